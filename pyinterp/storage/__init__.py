"""How results are kept: values as JSON and arrays in a zip, and files that are never half written.

==============  ======================================================================
Module          What is in it
==============  ======================================================================
`files`         Files that appear whole or not at all
`kinds`         The classes whose objects files may hold
`types`         Whether a value has the type that a class states for it
`tables`        Frames, series and indexes of pandas as lists of columns
`codec`         Values as a tree of JSON and a list of arrays
`texts`         Values as texts, the same in every session
`archive`       The zip: its members, limits and checks
`models`        Fitted estimators as bytes of skops
`savable`       Results that can be saved, and how they are loaded
==============  ======================================================================

No file holds a pickle, and none is run: what is read is data, checked against the types that the
classes state.
"""

from pyinterp.storage.codec import AbsentFunction, KeyText
from pyinterp.storage.files import whole_file
from pyinterp.storage.savable import Savable, load
from pyinterp.storage.texts import NAMELESS, text_of

__all__ = ["NAMELESS", "AbsentFunction", "KeyText", "Savable", "load", "text_of", "whole_file"]
