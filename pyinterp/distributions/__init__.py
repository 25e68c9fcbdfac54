"""Predictive distributions: families of densities with their log density and entropy.

In come parameters, one row of numbers per prediction; out go log densities and entropies in nats.
What an estimator predicts is read elsewhere (`models.predictive`). A new family is a file here with
a subclass of `Distribution`.

============  ====================================================================
Module        What is in it
============  ====================================================================
distribution  What a family is
normal        Normal, from means and standard deviations
mixture       Equal-weight mixtures of Normals, whose entropy is found by quadrature
positive      Gamma and log-normal
poisson       Poisson
============  ====================================================================
"""

from pyinterp.distributions.distribution import Distribution
from pyinterp.distributions.mixture import NormalMixture
from pyinterp.distributions.normal import Normal
from pyinterp.distributions.poisson import Poisson
from pyinterp.distributions.positive import Gamma, LogNormal

__all__ = ["Distribution", "Gamma", "LogNormal", "Normal", "NormalMixture", "Poisson"]
