"""Networks whose predictions are distributions: learners of Wood et al. (2024), Appendix B.

In come rows and a response, out go scikit-learn estimators that say how sure they are. PyTorch
trains them, and `training` is its only importer; predictions are by NumPy alone.

==============================  ===========================================================
Estimator                       Method
==============================  ===========================================================
``MCDropoutRegressor``          Units are left out at random (Gal and Ghahramani 2016)
``BayesByBackpropClassifier``   Weights have a distribution (Blundell et al. 2015)
==============================  ===========================================================
"""

from pyinterp_papers.networks.backprop import BayesByBackpropClassifier
from pyinterp_papers.networks.dropout import MCDropoutRegressor

__all__ = ["BayesByBackpropClassifier", "MCDropoutRegressor"]
