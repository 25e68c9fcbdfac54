"""What-if predictions: the only place that calls a fitted model's predictions."""

from pyinterp.engine.batched import BatchedWhatIf
from pyinterp.engine.dispatch import ENGINES, EngineName, dispatch
from pyinterp.engine.inputs import final_step
from pyinterp.engine.whatif import PREDICTIONS, Block, Engine, WhatIf

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
