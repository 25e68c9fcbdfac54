"""Ranges of estimands, losses and metrics: the least and the largest value."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Range: TypeAlias = tuple[float, float]

# The real line.
REAL: Range = (-np.inf, np.inf)
POSITIVE: Range = (0.0, np.inf)
SHARES: Range = (0.0, 1.0)
