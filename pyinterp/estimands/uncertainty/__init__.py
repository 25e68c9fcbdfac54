"""What features do to predictive uncertainty (Wood, Papamarkou, Benatan and Allmendinger 2024).

=============  ========================================================================
Module         What is in it
=============  ========================================================================
`likelihood`   Permutation importance for the negative log likelihood
`entropy`      Permutation importance for the entropy of the predictive distribution
`redundancy`   How well each feature is predicted from the others, and the response
=============  ========================================================================

Their partial dependence is `effects.partial_dependence` with ``of="entropy"`` or ``of="nll"``.
"""
