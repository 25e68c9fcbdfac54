"""The picture of the README: red wine, the importance of variables and the effect of alcohol."""

import sys

from plotnine import labs, theme
from sklearn.ensemble import RandomForestRegressor

import pyinterp as pi

if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "docs/_static/readme.png"
    wine = pi.datasets.load_wine_quality()
    learner = pi.Learner.from_formula("quality ~ .", wine, RandomForestRegressor(500))
    res = learner.fit(seed=1, n_jobs=2)

    importance = res.pfi().plot() + labs(caption="")
    effect = res.pd("alcohol", grid="equidistant").plot() + labs(caption="")
    both = (importance | effect) + theme(figure_size=(10, 3.8))
    both.save(path, dpi=110, verbose=False)
