"""All numbers of the default inference that were chosen, with their reasons.

None of them was chosen on the simulations that `docs/inference.md` reports.

The rule
    `MARGIN`: A - S/2 stands for the variance of a mean over many refits on halves. The theorem
    allows A - S. Half of S is kept as a margin, because n/2 rows stand for 0.632 n.
    `LARGEST_GROWTH`: by what factor refits on 0.632 n may find more than refits on halves. Beyond
    it halves say too little of the learner, and no interval is printed.
    `BEYOND_NOISE`: growth counts if it is larger than so many of its standard errors.

The guards
    `CERTAIN`: growth beyond `LARGEST_GROWTH` by so many standard errors refuses intervals.
    `LARGEST_IDLE_SHARE`: the share of half refits with an importance of exactly 0 from which the
    row is marked, and of half refits with constant predictions from which intervals are refused.
    `LARGEST_SKEWNESS`: a skewness of the rows' contributions above so many root n marks the row. By
    Edgeworth's expansion it adds .034 to the .025 of data sets that an interval misses on one side.
    `STABLE`: the rate of training variances goes up by 0.632 / 0.5 from 0.632 n to n/2 rows. If
    predictions vary so much more that less than this share is explained, the table warns.
    `MOST_CLUSTERS`: up to so many clusters the table says what `studies/few_clusters.py` found.
"""

MARGIN = 0.5
LARGEST_GROWTH = 1.5
BEYOND_NOISE = 1.0

CERTAIN = 5.0
LARGEST_IDLE_SHARE = 0.1
LARGEST_SKEWNESS = 0.4
STABLE = 0.8
MOST_CLUSTERS = 30

# Standard errors above no effect from which on the error of a standard error is known. In 4 data
# sets of 300 rows (least squares, 50 seeds) the standard deviation of standard errors was .82 to
# 1.22 of it there, and .86 to 1.50 of it in rows without an effect.
LEAST_T = 2.0
