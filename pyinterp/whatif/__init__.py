"""What-if predictions: the only place that calls a fitted model's predictions."""

from pyinterp.whatif.batched import BatchedWhatIf
from pyinterp.whatif.dispatch import ENGINES, EngineName, dispatch
from pyinterp.whatif.inputs import final_step
from pyinterp.whatif.whatif import PREDICTIONS, Block, Engine, WhatIf

__all__ = [
    "ENGINES",
    "PREDICTIONS",
    "BatchedWhatIf",
    "Block",
    "Engine",
    "EngineName",
    "WhatIf",
    "dispatch",
    "final_step",
]
