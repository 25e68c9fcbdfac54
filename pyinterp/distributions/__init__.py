"""Predictive distributions: families of densities with their log density and entropy.

In come parameters, one row of numbers per prediction; out go log densities and entropies in nats.
What an estimator predicts is read elsewhere (`models.predictive`). A new family is a
subclass of `Distribution`.

==========  ==============================================
Module      What is in it
==========  ==============================================
families    What a family is, and the families themselves
quadrature  The entropy of a mixture of Normals
==========  ==============================================
"""

from pyinterp.distributions.families import (
    Distribution,
    Gamma,
    LogNormal,
    Normal,
    NormalMixture,
    Poisson,
)

__all__ = ["Distribution", "Gamma", "LogNormal", "Normal", "NormalMixture", "Poisson"]
