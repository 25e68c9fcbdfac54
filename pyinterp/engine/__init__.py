"""What-if predictions: the only place that calls a fitted model's predictions."""

from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.whatif import Block, WhatIf

__all__ = ["BatchedWhatIf", "Block", "WhatIf"]
