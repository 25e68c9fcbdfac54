"""The public names of the package, each once: type checkers and ``__init__.py`` read them here."""

from pyinterp import datasets as datasets
from pyinterp import distributions as distributions
from pyinterp import estimators as estimators
from pyinterp import r_style as r_style
from pyinterp import samplers as samplers
from pyinterp import simulation as simulation
from pyinterp.estimands.estimand import Estimand as Estimand
from pyinterp.estimands.estimand import Parameter as Parameter
from pyinterp.estimands.estimand import Terms as Terms
from pyinterp.estimands.estimand import Words as Words
from pyinterp.estimands.estimate import Estimate as Estimate
from pyinterp.estimands.questions import Question as Question
from pyinterp.estimands.questions import ask as ask
from pyinterp.estimands.risk import mean_over_rows as mean_over_rows
from pyinterp.inference import register_variance as register_variance
from pyinterp.learner.compare import compare as compare
from pyinterp.learner.fitted_model import FittedModel as FittedModel
from pyinterp.learner.learner import Learner as Learner
from pyinterp.learner.learner import LearnerResults as LearnerResults
from pyinterp.learner.learner import join as join
from pyinterp.losses.metrics import Metric as Metric
from pyinterp.losses.rowwise import Loss as Loss
from pyinterp.models.distributional import Distributional as Distributional
from pyinterp.models.early_stopping import EarlyStopping as EarlyStopping
from pyinterp.models.statsmodels_learner import statsmodels_learner as statsmodels_learner
from pyinterp.report_page import cite as cite
from pyinterp.report_page import report as report
from pyinterp.resampling import Bootstrap as Bootstrap
from pyinterp.resampling import CrossValidation as CrossValidation
from pyinterp.resampling import FreshDraws as FreshDraws
from pyinterp.resampling import HalfSampling as HalfSampling
from pyinterp.resampling import Holdout as Holdout
from pyinterp.resampling import NestedBootstrap as NestedBootstrap
from pyinterp.resampling import Splits as Splits
from pyinterp.resampling import Subsampling as Subsampling
from pyinterp.results.results import EstimandResults as EstimandResults
from pyinterp.results.side_by_side import plot as plot
from pyinterp.results.side_by_side import summary_col as summary_col
from pyinterp.results.together import CausalResults as CausalResults
from pyinterp.results.together import CurveResults as CurveResults
from pyinterp.results.together import ImportanceResults as ImportanceResults
from pyinterp.results.together import UncertaintyResults as UncertaintyResults
from pyinterp.simulation.certify import certify as certify
from pyinterp.storage import load as load

__version__: str
__all__: list[str]
