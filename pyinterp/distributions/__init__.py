"""Predictive distributions: families of densities with their log density and entropy.

In come parameters, one row of numbers per prediction; out go log densities and entropies in nats.
What an estimator predicts is read elsewhere (`models.predictive`). A new family is a
subclass of `Distribution`.

============  ====================================================================
Module        What is in it
============  ====================================================================
distribution  What a family is
families      Normal, log-normal, gamma and Poisson
mixture       Equal-weight mixtures of Normals
quadrature    Their entropy
============  ====================================================================
"""

from pyinterp.distributions.distribution import Distribution
from pyinterp.distributions.families import Gamma, LogNormal, Normal, Poisson
from pyinterp.distributions.mixture import NormalMixture

__all__ = ["Distribution", "Gamma", "LogNormal", "Normal", "NormalMixture", "Poisson"]
