"""How results are kept: JSON and arrays in a zip, and files that are never half written.

==============  ======================================================================
Module          What is in it
==============  ======================================================================
`files`         Files that appear whole or not at all
`codecs`        Values that JSON has not, such as dates and frames of pandas
`archive`       Values as JSON and named arrays in a zip, and back
`texts`         Values as texts, the same in every session
`savable`       Results that can be saved, and how they are loaded
==============  ======================================================================

No file holds a pickle, and none is run: what is read is data, of which objects of this package's
records are made.
"""

from pyinterp.storage.codecs import AbsentFunction
from pyinterp.storage.files import whole_file
from pyinterp.storage.savable import Savable, load
from pyinterp.storage.texts import NAMELESS, KeyText, text_of
