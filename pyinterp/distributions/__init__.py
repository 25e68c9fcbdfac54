"""Predictive distributions: families of densities with their log density and entropy.

In come parameters, one row of numbers per prediction; out go log densities and entropies in nats.
Predictions of estimators are read elsewhere (`models.predictive`). A new family is a
subclass of `Distribution`.

==========  ==============================================
Module      Contents
==========  ==============================================
families    The base of all families, and the families
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
