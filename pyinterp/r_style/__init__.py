"""R's pdp, vip and hstats without R: their functions, arguments, defaults and output.

Every function takes the results of a `Learner`, a `FittedModel` or anything with the same methods;
their evaluation rows stand for R's ``train``. Arguments are R's with underscores for dots, and the
values are as in the R packages, to rounding, on rows without missing values. Each asks a method
that also gives standard errors: `partial` asks ``pd(grid=RGrid(...))``, `vi_firm` asks ``firm``,
`vi_permute` ``pfi(metric=...)``, `vint` ``vint`` and `hstats` ``h_statistic``. What R's functions
take, and how their numbers differ, stands in ``r_functions.toml``, which
`pyinterp.r_style.r_functions` reads. `functions` has the functions, `arguments` shared parts.

For a learner all values are means over its refits.
"""

from pyinterp.estimands.effects.grids import RGrid
from pyinterp.r_style.arguments import classes_in_order, factors
from pyinterp.r_style.functions import hstats, partial, vi, vi_firm, vi_permute, vint

__all__ = [
    "RGrid",
    "classes_in_order",
    "factors",
    "hstats",
    "partial",
    "vi",
    "vi_firm",
    "vi_permute",
    "vint",
]
