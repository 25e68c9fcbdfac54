"""What-if predictions: the only place that calls a fitted model's predictions.

In come a predictor, a design and rows; out go predictions of those rows with some variables
replaced. `dispatch` proves an exact engine on the model's own predictions before it is used:
`trees` computes them for ensembles of trees (`forest`, `read_forest`, `walks`), `linear` for linear
and generalized linear models, and `batched` for any model, by predicting many copies of rows at a
time. A new engine is a subclass of `WhatIf` with its `FeatureWhatIf`, and a line in `dispatch`; no
estimand depends on which engine it is.
"""

from pyinterp.whatif.batches import BatchedWhatIf
from pyinterp.whatif.dispatch import ENGINES, EngineName, dispatch
from pyinterp.whatif.whatif import PREDICTIONS, Block, Engine, FeatureWhatIf, WhatIf

__all__ = [
    "ENGINES",
    "PREDICTIONS",
    "BatchedWhatIf",
    "Block",
    "Engine",
    "EngineName",
    "FeatureWhatIf",
    "WhatIf",
    "dispatch",
]
