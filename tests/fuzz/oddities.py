"""Values for arguments, by the kind of the argument: those that must fail, and all others.

Values are Python expressions. "Must fail" means that a table made of it would be of something
that nobody asked for.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANYTHING", "KINDS", "Kind", "lines", "table"]


class Kind(NamedTuple):
    """Values of one kind of argument.

    Attributes
    ----------
    bad : tuple of str
        Must fail.
    odd : tuple of str
        May work or fail.
    """

    bad: tuple[str, ...]
    odd: tuple[str, ...] = ()


# No argument takes these, but for a kind that lists them.
JUNK = ("{}", "3", "float('nan')", "True", "[]")


def lines(text):
    """Return the expressions of a text, one a line."""
    return tuple(line.strip() for line in text.strip().splitlines())


def table(text):
    """Return the lines below each name; they stand further to the right."""
    found, name = {}, ""
    for line in text.strip().splitlines():
        if line.startswith(" "):
            found[name].append(line[4:])
        else:
            name, found[line] = line, []
    return found


def kinds(text):
    """Return kinds by name; "!" stands before values that must fail, as all of `JUNK` must."""
    found = {}
    for name, below in table(text).items():
        bad = [line[2:] for line in below if line[0] == "!"]
        odd = [line[2:] for line in below if line[0] != "!"]
        found[name] = Kind((*bad, *(value for value in JUNK if value not in odd)), tuple(odd))
    return found


# No argument but those of free form has a meaning for most of these.
ANYTHING = lines(r"""
object()
b'x'
1j
int
[[['x']]]
'x' * 5000
None
pd.NA
float('nan')
float('inf')
0
3
10**9
10**400
1.5
True
''
'µg'
'x\ny'
[]
{}
['x', 'x']
{'x': 1}
print
np.array([])
np.float64(0.5)
np.bool_(True)
np.array(['x', 3], dtype=object)
np.ma.masked
pd.Series([1.0, 2.0])
pd.Timestamp('2020')
d
A
LR
pf
""")

KINDS = kinds(r"""
alpha
    ! 0
    ! 5
    ! None
    ! '0.05'
      1 - 1e-16
      np.float64(0.05)
      pd.NA
own alpha
    ! 0
    ! 5
    ! '0.05'
      None
      np.float64(0.05)
count
    ! 0
    ! -1
    ! 1.5
    ! '3'
      None
      np.int64(2)
      2.0
      1
      3
natural
    ! -1
    ! 1.5
    ! '3'
      None
      np.int64(2)
      0
      2.0
      3
fraction
    ! 0
    ! 1
    ! 2
    ! '0.5'
      None
      np.float64(0.5)
      1e-9
      0.5
positive
    ! -1
    ! float('inf')
    ! '1'
      None
      0
      1e300
      3
flag
    ! 'no'
    ! 2
    ! pd.NA
      None
      1
      np.bool_(True)
      True
choice
    ! 'no such'
    ! 1
    ! ['auto']
      None
      np.array(['auto'])
      'AUTO'
feature
    ! 'no such'
    ! None
    ! ['x', 'no such']
      'y'
      ['x']
      'g'
      'k'
      ['x', 'z']
      'x:z'
features
    ! 'no such'
    ! ['x', 'no such']
    ! [3]
    ! ()
    ! [True, False, True]
    ! d
    ! 'x + z'
      None
      ['x']
      ('x', 'z')
      ['x', 'x']
      pd.Series(['x', 'z'], index=[5, 5])
      'g'
      iter(['x'])
      ['x', 'z', 'g']
sets
    ! 'no such'
    ! [('x',)]
    ! [('x', 'x')]
    ! [('x', 'no such')]
    ! [('x', None)]
      None
      ('x', 'z')
      [('x', 'z')]
      [['x', 'z'], ['z', 'x']]
      np.array([['x', 'z']])
      pd.DataFrame({'a': ['x'], 'b': ['z']})
      'x'
grid
    ! 'no such'
    ! [float('nan')]
    ! ['one', 'two']
    ! [1j]
    ! {'no such': [0.0]}
    ! pd.DataFrame()
    ! pd.DataFrame({'w': [1.0]})
    ! [np.datetime64('2020')]
    ! [[0.0], [1.0, 2.0]]
    ! np.ma.masked_array([0.0, 1.0], mask=[False, True])
      None
      [0.5]
      [1.0, 0.0]
      [0.0, 0.0]
      [1e308, -1e308]
      pd.Series([0.0, 1.0], index=['a', 'a'])
      ['a', 'b']
      {'x': [0.0, 1.0]}
      pd.DataFrame({'x': [0.0, 1.0]})
      pd.DataFrame({'x': [0.0], 'g': ['a']})
      pi.r_style.RGrid(grid_resolution=3)
      pi.r_style.RGrid(cats=('x',))
      'unique'
      np.array([0, 1], dtype='>i4')
      (v for v in (0.0, 1.0))
      {'x': 3, 'g': None}
      3
permutations
    ! 0
    ! 1.5
    ! 'some'
    ! None
      1
      'all'
      'auto'
      {'x': np.arange(15)}
      {'no such': [0]}
      3
drawn permutations
    ! 0
    ! 1.5
    ! 'some'
      None
      'all'
      {}
      {'x': np.arange(15)}
      {'no such': [0]}
estimand
    ! 'pfi'
    ! OWN.measure
    ! pi.Estimand
      OWN
row function
    ! None
    ! print
    ! lambda y, p: y[:3]
    ! lambda y, p: p * np.nan
    ! lambda y, p: 1 / 0
      lambda y, p: p
      lambda y, p: (y - p).tolist()
loss
    ! 'no such'
    ! pi.Loss
    ! 'rmse'
    ! lambda y, p: 0.0
    ! bad_loss('scalar')
    ! bad_loss('nan')
    ! bad_loss('short')
    ! bad_loss('raises')
    ! bad_loss('random')
      None
      bad_loss('strings')
      bad_loss('writes')
      'absolute'
      'log'
      'brier'
      'poisson'
      pi.Loss('a', lambda y, p: np.abs(y - p))
      pi.Loss('a\nb', lambda y, p: np.abs(y - p), unit='{nothing}')
      pi.Loss('a', lambda y, p: np.abs(y - p), constant=lambda y: None)
metric
    ! 'no such'
    ! 'squared'
      None
      'rmse'
      'rsq'
      'accuracy'
      'roc_auc'
sampler
    ! 'no such'
    ! None
    ! {'no such': 'residual'}
    ! {'x': 'no such'}
    ! pi.samplers.Residual
    ! pi.samplers.Residual(estimator=3)
    ! pi.samplers.Residual(estimator=LOGIT)
    ! pi.samplers.Residual(estimator=KMeans(2))
    ! pi.samplers.Residual(estimator=Broken('nan'))
    ! pi.samplers.Categorical(estimator=BrokenClassifier('nan'))
    ! pi.samplers.Residual(estimator=FitFails())
    ! pi.samplers.Residual(within_range='no')
      'conditional'
      'residual'
      'categorical'
      'subgroup'
      'knockoff'
      {}
      {'x': 'subgroup'}
      pi.samplers.Residual(estimator=LR)
      pi.samplers.Knockoff()
text
    ! None
    ! ['a']
      ''
      'a\nb'
      '{no such}'
      '<b>'
      '$_#'
class
    ! 'no such'
    ! 1.5
    ! pd.NA
      None
      'yes'
      'no'
      0
seed
    ! -1
    ! '1'
    ! np.random
      0
      2**64
      np.random.default_rng(1)
      np.random.SeedSequence(1)
      3
jobs
    ! 0
    ! '2'
      None
      1
      np.int64(1)
      3
memory
    ! 0
    ! float('inf')
    ! None
      1e-9
      np.int64(64)
      3
labels
    ! 'ab'
    ! ['a', 'a']
    ! [1, 2]
      None
      ['a', 'b']
      np.array(['a', 'b'])
      ['a\n', 'b']
groups
    ! {'a': 'x'}
    ! {'a': []}
    ! {'a': ['no such']}
    ! {'a': ['x'], 'b': ['x']}
    ! {3: ['x']}
    ! [('a', ['x'])]
    ! {'a': {'x': 1}}
    ! {'': ['x', 'z']}
    ! {'a': ['y']}
      None
      {}
      {'a': ['x', 'z']}
      {'a': {'x', 'z'}}
      pd.Series({'a': ['x', 'z']})
      {'a\nb': ['x', 'z']}
      {'a' * 300: ['x', 'z']}
rows
    ! 'no_such > 1'
    ! 'x +'
    ! [True]
    ! np.arange(N)
    ! d
    ! np.zeros(N, bool)
    ! '@d.x > 0'
      None
      'x > -1'
      d.x > -1
      (d.x > -1).tolist()
      (d.x > -1).astype(object)
      'x > 100'
      'x > 2'
groups of rows
    ! 'no such'
    ! d
    ! np.full(N, np.nan)
    ! ['x', 'z']
      None
      'x'
      d.x > -0.5
      np.arange(N) % 2
      np.zeros(N)
      pd.Series(np.arange(N) % 2).astype('category')
weights
    ! 'no such'
    ! [1]
    ! ['x', 'z']
    ! -np.ones(N)
      None
      np.ones(N)
      np.zeros(N)
      np.full(N, np.nan)
contrasts
    ! [[1.0]]
    ! np.full((1, 3), np.nan)
    ! np.zeros((1, 2, 3))
      None
      'x'
      np.eye(3)
      np.eye(3)[:1].tolist()
hypotheses together
    ! ''
    ! 'no such = 0'
    ! [[0, 0, 0]]
      'x = 0'
      'x = 0, z = 0'
      np.eye(3)
      {'x': 0}
group
    ! 'no such'
      None
      'a'
      'b'
progress
    ! 'yes'
    ! 1
    ! None
      True
      False
      'log'
splits
    ! None
    ! KFold
    ! [([0], [0])]
    ! [([0, 1], [])]
      KFold(4)
      list(KFold(3).split(d))
      [(np.arange(N) < 20, np.arange(N) >= 20), (np.arange(N) >= 20, np.arange(N) < 20)]
metric asked
    ! 'no such'
    ! None
      'rmse'
      'neg_mean_absolute_error'
      lambda y, p: float(np.abs(y - p).mean())
      lambda y: 0.0
      lambda y, p: 'a'
by
    ! 'no such'
    ! np.zeros((N, 2))
    ! np.full(N, np.nan)
    ! d
    ! pd.Series(np.arange(N), index=np.arange(N) + 5)
      None
      'g'
      'y'
      np.where(np.arange(N) < 3, np.nan, np.arange(N))
      np.arange(N) % 7
      d['g'].astype('category')
      np.ma.masked_array(np.arange(N) % 7, mask=np.arange(N) < 3)
      pd.Series(np.arange(N) % 7)[::-1]
      pd.date_range('2020', periods=N)
plan
    ! 'bootstrap'
    ! [pi.Bootstrap(3)]
    ! pi.CrossValidation(N + 1)
    ! pi.FreshDraws(lambda rng: None, 3)
      None
      pi.Bootstrap(1)
      pi.Bootstrap(2, cluster='s', strata='g')
      pi.CrossValidation(N)
      pi.Subsampling(2, fraction=0.01)
      pi.Holdout()
      pi.HalfSampling(1, pairs=5, cluster='s')
      pi.NestedBootstrap(3, splits=2, split_by='copy')
hypotheses
    ! ''
    ! 'no such = 0'
    ! 'x = '
    ! None
    ! [[0, 0, 0]]
    ! np.zeros((2, 2, 3))
    ! 'x * z = 0'
    ! 'x = 0; import os'
    ! np.eye(3) * np.inf
    ! np.ma.masked_array([[1.0, 0, 0]], mask=[[True, False, False]])
      'x = 0'
      'x - z = 0.1, z = 0'
      np.eye(3)
      [1, -1, 0]
      '2*x - 3*z = 1'
      'x = 0, x = 0'
      np.array([['1', '0', '0']])
      {'x': 0}
measures
    ! 'no such'
    ! ['pfi', 'no such']
      None
      ['pfi', 'pfi']
      ('mvim', 'amvim')
      ['loco']
newdata
    ! d.drop(columns='x')
    ! d.assign(x='a')
    ! d.assign(x=np.nan)
    ! d.assign(g='unseen')
    ! d.assign(x=d.x * 1j)
    ! pd.concat([d, d[['x']]], axis=1)
    ! None
    ! A
    ! np.zeros((2, 2, 2))
      d[:0]
      d[::-1]
      d.assign(x=d.x.astype(object))
      d.assign(x=d.x.astype('>f8'))
      d.set_index('s')
      d[['g', 'z', 'x']]
      d.assign(x=d.x.astype(str))
variables asked
    ! d.drop(columns='x')
    ! pd.concat([d, d[['x']]], axis=1)
    ! 'd'
    ! A
      d[:0]
      d[::-1]
      d[['g', 'z', 'x']]
process frame
    ! d
    ! process.draw(5, seed=1).drop(columns='x1')
    ! process.draw(5, seed=1).assign(x1='a')
    ! process.draw(5, seed=1).to_numpy()
    ! pd.concat([process.draw(5, seed=1)] * 2, axis=1)
      process.draw(5, seed=1)[:0]
      process.draw(5, seed=1)[::-1]
      process.draw(5, seed=1).astype('>f8')
      process.draw(5, seed=1).assign(x1=np.nan)
process
    ! 'friedman1'
    ! pi.simulation.Process
    ! res
      wood
generator
    ! None
    ! lambda rng: None
    ! lambda rng: d[:0]
    ! lambda rng: d.drop(columns='x')
    ! lambda rng: d.assign(x=np.nan)
    ! lambda rng: {}['no such']
      lambda rng: d.sample(30, random_state=rng)
      lambda rng: d[['g', 'z', 'x', 'y']]
      lambda rng: d.iloc[rng.permutation(N)[:20]]
which
    ! 0
    ! 1.5
    ! 'yes'
    ! None
      1
      3
      np.int64(1)
function
    ! 'exp'
    ! lambda p: None
    ! lambda p: 'a'
      None
      np.exp
      lambda p: p * np.nan
      lambda p: p * 1j
number
    ! '1'
    ! None
      0
      float('inf')
      np.float64(1)
      3
null
    ! 'a'
    ! [1]
      None
      0
      1.5
      3
range
    ! [1]
    ! (1, 0)
      (0.0, 1.0)
      (-np.inf, np.inf)
results
    ! None
    ! [3]
    ! [pf, 3]
    ! [res]
    ! [pf, res]
      pf
      (pf, pf)
      [pf, pdx]
      [pf, clf.pfi()]
      iter([pf])
      [imp]
one
    ! None
    ! d
    ! lin
    ! learner
      res
      clf
      pf
      pdx
      imp
estimates
    ! 'pf'
    ! res
    ! clf.pfi()
    ! boot.pfi
      None
      boot.pfi()
      boot.loss()
format
    ! 'no such'
    ! '%s%'
      None
      '%.2f'
      '%g'
      '%.200f'
path
    ! '/no such/folder'
    ! object()
      '.'
path of nothing
      None
      '/no such/folder'
      {}
      3
      float('nan')
      True
      []
title
    ! b'x'
      None
      ''
      'a\nb'
      '<b>&'
      '$_#'
caption
    ! b'x'
    ! ['a']
      None
      'a b'
      '$x$'
latex label
    ! b'x'
    ! 'a b'
      ''
      'tab:a'
      {}
      []
constant
    ! 'exp'
      None
      lambda y: 1.0
decimals
    ! -1
    ! '3'
    ! 10**9
      None
      0
      2.0
      3
table file
    ! 'a.doc'
    ! None
      new_file() + '.xlsx'
      'markdown'
page file
    ! object()
    ! '/no such/folder/a.html'
      new_file()
processes
    ! process
    ! [3]
    ! [process, process]
      (process,)
      [wood]
learners
    ! LR
    ! [LR]
    ! {'ols': 3}
    ! {'ols': FitFails()}
    ! {'ols': ('y ~ no_such', LR)}
    ! {3: LR}
      {'ols': ('y ~ x1', LR)}
      {'ols': lambda process, n: LR}
      {'a|b': LR}
sizes
    ! 20
    ! [0]
    ! [2.5]
    ! [True]
      (20,)
      [20, 20]
      range(20, 21)
questions
    ! ['pfi']
    ! {'pfi': 3}
    ! {'pfi': lambda res, cov_type=None: None}
    ! {'pfi': lambda res, cov_type=None: res.pfi('no such')}
      {'loss': pi.LearnerResults.loss}
      {'pd': lambda res, **o: res.pd('x1', grid=[0.1, 0.9], **o)}
      {'pd': lambda res, **o: res.pd('x1', points=3, **o)}
plans
    ! None
    ! {'boot': 3}
    ! {'b': PLAN}
      {'boot': lambda process, n: pi.Bootstrap(3)}
      {'boot': pi.simulation.ideal(3)}
variances
    ! None
    ! {'boot': []}
    ! {'boot': ['no']}
      {'boot': ['naive', 'corrected']}
      {'boot': ['naive'] * 2}
probs
    ! [2.0]
    ! [-0.1]
    ! '0.5'
    ! [None]
    ! None
      [0.5]
      [0.5, 0.5]
      np.array([0.1, 0.9])
      0.5
""")
KINDS["words"] = Kind((), ("None", "'a b'"))
KINDS["refits"] = KINDS["count"]  # without `ANYTHING`, as 10**9 of them take for ever
