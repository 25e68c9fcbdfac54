"""Ranges of estimands, losses and metrics: the least and the largest value."""

from __future__ import annotations

import numpy as np

Range = tuple[float, float]

# The real line.
REAL = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)
SHARES = (0.0, 1.0)
