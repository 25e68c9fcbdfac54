"""What skorch needs."""

from pyinterp.models.library import Library

SKORCH = Library(
    package="skorch",
    regular=False,
    remedies={
        "target data shouldn't be 1-dimensional": (
            "write a class of your own, whose `fit` passes "
            "`np.asarray(y, 'float32').reshape(-1, 1)`."
        )
    },
)
