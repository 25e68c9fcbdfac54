"""Frames, responses, formulas and estimators for `Learner`, `from_formula` and `FittedModel`."""

from importlib.util import find_spec

from oddities import KINDS, Kind, lines

__all__ = ["DATA_KINDS"]

# Columns that hold the same numbers or levels in another form: they work, or say why not.
FORMS = lines(r"""
d.to_dict('list')
d.assign(x=pd.date_range('2020', periods=N))
d.assign(x=d.x.astype(object))
d.assign(x=d.x.astype('>f8'))
d.assign(x=d.x.astype('Float64'))
d.assign(x=d.x.astype(pd.SparseDtype(float)))
d.assign(k=d.k.astype('uint8'))
d.assign(x=d.x.astype('longdouble'))
d.assign(g=d.g.astype('category'))
d.assign(g=d.g.astype('string[python]'))
d.assign(g=d.g.astype(pd.CategoricalDtype(['c', 'b', 'a', 'unused'])))
d.assign(g=d.g.astype(pd.CategoricalDtype(['a', 'b', 'c'], ordered=True)))
d.assign(g=pd.cut(d.x, 3))
d.assign(g=d.x > 0)
d.assign(g=[(1, 2)] * 20 + [(3, 4)] * 20)
d.set_index(pd.Index(['same'] * N))
d.set_index(pd.MultiIndex.from_product([range(4), range(10)]))
d.sample(frac=1, random_state=0)
d.iloc[:6]
pd.concat([d] * 2)
d.assign(**{'µg': d.x})
d.assign(**{'a`b': d.x, "it's": d.z})
d.assign(**{'x' * 300: d.x})
d.assign(**{'Intercept': d.x})
d.assign(**{'x[T.b]': d.x})
d.assign(**{'estimate': d.x, 'term': d.z})
d.assign(y=d.y.astype('Float64'))
d.assign(y=d.k)
d.assign(y=1e300 * d.y)
d.assign(y=d.y + 1e12)
d.assign(x=1e300 * d.x)
d.assign(x=1e-320 * d.x)
d.assign(x=1.0)
d.assign(x=d.x.where(d.x > -1))
d.assign(y=d.y.where(d.x > -1))
d.assign(g=[str(i) for i in range(N)])
d.assign(g=['a' * 500 if v == 'a' else v for v in d.g])
d.assign(g=['nan' if v == 'a' else v for v in d.g])
d.assign(z=d.x)
d.assign(z=d.y)
""")
ARROW = ("d.assign(x=d.x.astype('float64[pyarrow]'))", "d.assign(g=d.g.astype('string[pyarrow]'))")
BROKEN = lines(r"""
d[:0]
d[:3]
d.drop(columns='y')
pd.concat([d, d[['x']]], axis=1)
d.assign(x=d.x * 1j)
d.assign(x=np.nan)
d.assign(x=np.inf)
d.assign(x=[object()] * N)
d.assign(x=['1', *d.x[1:]])
d.assign(y=np.nan)
d.assign(y=1.0)
d.assign(y=d.g)
d.assign(y=d.y * 1j)
d.assign(y=pd.Timestamp('2020'))
d.set_axis(range(d.shape[1]), axis=1)
d.set_axis(pd.MultiIndex.from_product([['a'], d.columns]), axis=1)
d.to_numpy()
d['x']
'd.csv'
None
{}
d.groupby('g')
""")
FAULTS = lines(r"""
short
two columns
3-d
empty
complex
nan
random
objects
nothing
masked
by position
depends on batch
raises
recurses
""")
MAY_WORK = ("none", "writes", "zero imaginary", "strings", "list", "column", "booleans")
LABELS = ("codes", "unknown", "missing")
PROBABILITIES = ("times 3", "not summing", "nan", "one column", "short", "random", "nothing")
NOT_ESTIMATORS = lines(r"""
3
None
LinearRegression
[LR]
np.exp
d
NoPredict()
NoFit()
StandardScaler()
res
ols
lambda X: X
""")
FRAMES = ("X[:0]", "X.T", "None", "[]", "np.zeros((N, 0))")
ARRAYS = lines(r"""
A.astype('>f8')
A.astype(object)
np.asfortranarray(A)
np.ma.masked_array(A, mask=np.zeros_like(A, bool))
np.matrix(A)
X.set_index(pd.Index(range(5, 5 + N)))
X[['z', 'x']]
X.rename(columns={'x': 'a b'})
X.astype('Float64')
X.astype(object)
X.astype(pd.SparseDtype(float))
d[['x', 'g']]
X[:1]
X['x']
X.astype(str)
np.ma.masked_array(A, mask=A > 2.5)
X.set_axis([3, None], axis=1)
X.set_axis(['x', 'µg'], axis=1)
X.set_axis(['<b>x</b>', 'x & z'], axis=1)
X.set_axis(['x_1^2', '100%'], axis=1)
X.set_axis(['y', 'x' * 300], axis=1)
""")
BAD_ARRAYS = lines(r"""
sparse.csr_matrix(A)
A[:, :, None]
A * 1j
A * np.nan
A.astype('M8[s]')
X[:20]
[[1.0], [1.0, 2.0]]
pd.concat([X, X], axis=1)
X.set_axis([3, '3'], axis=1)
iter(A)
""")
RESPONSES = lines(r"""
3
[]
float('nan')
y[:20]
y * np.nan
y * 1j
y.to_numpy()[:, None] * [1.0, 1.0]
y.astype(str)
pd.Series(y.to_numpy(), index=np.arange(N) + 5)
pd.date_range('2020', periods=N)
[object()] * N
d
""")
GOOD_RESPONSES = lines(r"""
y.tolist()
y.to_numpy()
y.to_numpy()[:, None]
y.astype('>f8')
y.astype(object)
y.rename(('a', 'b'))
y.rename('x')
y.rename('y' * 300)
y[::-1]
y.where(y > 0)
d['k']
y * 0
y.to_numpy().astype('longdouble')
np.ma.masked_array(y, mask=np.zeros(N, bool))
np.ma.masked_array(y, mask=y > 1)
""")

HERE = (*FORMS, *ARROW) if find_spec("pyarrow") else FORMS
LEARNED = tuple(f for f in FAULTS if f not in ("random", "by position", "depends on batch"))

EMPTY = ("[]", "()", "{}", "set()", "np.array([])")
DATA_KINDS = KINDS | {
    "categories": Kind(  # none are as good as their default
        tuple(value for value in KINDS["features"].bad if value not in EMPTY),
        (*KINDS["features"].odd, *EMPTY),
    ),
    "frame": Kind(BROKEN, HERE),
    "frame of classes": Kind(
        tuple(source for source in BROKEN if "y=" not in source and "'y'" not in source), HERE
    ),
    "variables": Kind((*FRAMES, *BAD_ARRAYS), ARRAYS),
    "evaluation": Kind(
        (*FRAMES, *BAD_ARRAYS, "X.rename(columns={'x': 'w'})", "X[['x']]", "d[['x', 'g']]"),
        tuple(a for a in ARRAYS if a not in ("d[['x', 'g']]", "X.rename(columns={'x': 'a b'})")),
    ),
    "response": Kind((*RESPONSES, "None"), GOOD_RESPONSES),
    "responses": Kind(RESPONSES, ("None", *GOOD_RESPONSES)),
    "formula": Kind(
        lines(r"""
''
'~ x'
'y ~ 1'
'y ~ no_such'
'y ~ x +'
'y ~ x ~ z'
'y ~ y'
'y ~ log(x)'
'y ~ np.log(x)'
'y ~ 1/0'
'y ~ bs(x, df=1)'
'y ~ x | g'
'y ~ x @ z'
'y ~ d'
'y ~ I(x + g)'
'y ~ np.mean(x)'
'y ~ x[:5]'
'C(y) ~ x'
'y ~ . - x - z - g - k - c - s'
3
['y', 'x']
float('nan')
"""),
        lines(r"""
'y ~ .'
'y ~ ' + '(' * 200 + 'x' + ')' * 200
'y ~ ' + ' + '.join(['x * z'] * 300)
'y ~ bs(x, df=200)'
'y + z ~ x'
'y ~ x + x'
'y ~ x - 1'
'y ~ (x + z + g)^2'
'y ~ C(g, Treatment("b"))'
'y ~ I(x**2)'
'y ~ bs(x, df=4)'
'np.exp(y) ~ x'
'y ~ Q("x")'
'y ~ scale(x)'
'y ~ poly(x, 2)'
'y ~ . + x:z'
'y ~ x + s'
'y ~ x # a comment'
'y ~ x\n+ z'
'y ~ x > 0'
'y ~ center(x) + standardize(z)'
'y ~ np.where(g == "a", x, z)'
"""),
    ),
    "estimator": Kind(
        (
            *NOT_ESTIMATORS,
            "KMeans(2)",
            "NoClasses()",
            "FitFails()",
            "LOGIT",
            "DecisionTreeClassifier()",
            "Ridge(alpha=-1)",
            "DecisionTreeRegressor(max_depth=0)",
            "make_pipeline(StandardScaler())",
            "make_pipeline(StandardScaler(), LOGIT)",
            *(f"Broken({fault!r})" for fault in FAULTS),
        ),
        (
            "TREE",
            "make_pipeline(StandardScaler(), LR)",
            "LinearRegression().fit(A, y)",
            "LinearRegression(fit_intercept=False)",
            "FitWrites()",
            "pi.statsmodels_learner(sm.OLS)",
            "pi.statsmodels_learner(sm.GLM)",
            *(f"Broken({fault!r})" for fault in MAY_WORK),
        ),
    ),
    "classifier": Kind(
        (
            *NOT_ESTIMATORS,
            "LR",
            "KMeans(2)",
            "NoClasses()",
            "FitFails()",
            "LogisticRegression(C=-1)",
            "Broken('none')",
            *(f"BrokenClassifier({fault!r})" for fault in PROBABILITIES),
            *(f"Labels({fault!r})" for fault in LABELS),
        ),
        (
            "GaussianNB()",
            "DecisionTreeClassifier(max_depth=2)",
            "make_pipeline(StandardScaler(), LOGIT)",
            "pi.statsmodels_learner(sm.Logit)",
            "BrokenClassifier('none')",
            "BrokenClassifier('strings')",
            "Labels('column')",
        ),
    ),
    "own regressor": Kind(
        (
            *(n for n in NOT_ESTIMATORS if n != "None"),
            "KMeans(2)",
            "FitFails()",
            "LOGIT",
            *(f"Broken({fault!r})" for fault in LEARNED),
        ),
        (
            "None",
            "TREE",
            "make_pipeline(StandardScaler(), LR)",
            "FitWrites()",
            *(f"Broken({fault!r})" for fault in MAY_WORK),
        ),
    ),
    "own classifier": Kind(
        (
            *(n for n in NOT_ESTIMATORS if n != "None"),
            "LR",
            "KMeans(2)",
            "FitFails()",
            *(f"BrokenClassifier({fault!r})" for fault in PROBABILITIES if fault != "random"),
        ),
        (
            "None",
            "GaussianNB()",
            "DecisionTreeClassifier(max_depth=2)",
            "BrokenClassifier('none')",
            "Labels('none')",
        ),
    ),
    "response beside an array": Kind(
        (*(r for r in RESPONSES if "index=" not in r), "None"),
        (*GOOD_RESPONSES, "pd.Series(y.to_numpy(), index=np.arange(N) + 5)"),
    ),
    "fitted": Kind(
        (
            *(n for n in NOT_ESTIMATORS if n not in ("NoFit()", "ols", "np.exp", "lambda X: X")),
            "LR",
            "KMeans(2, n_init=1, random_state=0).fit(X)",
            "StandardScaler().fit(X)",
            "LinearRegression().fit(d[['x', 'k']], y)",
            "LinearRegression().fit(X.to_numpy(), d[['y', 'x']])",
            "lambda X: 'a'",
            "lambda X, y: y",
            "logit.predict",
            *(f"function({fault!r})" for fault in FAULTS),
            *(f"Broken({fault!r}).fit(X, y)" for fault in FAULTS),
        ),
        (
            "lin.predict",
            "ols",
            "ols_formula",
            "LinearRegression().fit(X[['z', 'x']], y)",
            "TREE.fit(X, y)",
            "NoFit()",
            "lambda X: X",
            *(f"function({fault!r})" for fault in MAY_WORK),
            *(f"Broken({fault!r}).fit(X, y)" for fault in MAY_WORK),
        ),
    ),
    "fitted classifier": Kind(
        (
            "LOGIT",
            "LogisticRegression().fit(X, d['g'])",
            *(f"BrokenClassifier({fault!r}).fit(X, c)" for fault in PROBABILITIES),
            *(f"Labels({fault!r}).fit(X, c)" for fault in LABELS),
        ),
        (
            "logit",
            "GaussianNB().fit(X, c)",
            "BrokenClassifier('none').fit(X, c)",
            "Labels('none').fit(X, c)",
        ),
    ),
    "classes": Kind(
        ("'ab'", "['a']", "[1, 2]", "{}", "['no', 'maybe']", "c"),
        ("None", "['no', 'yes']", "np.array(['no', 'yes'])", "['no', 'yes', 'x']"),
    ),
    "model": Kind(
        ("3", "sm", "ols", "int", "LinearRegression", "sm.add_constant"),
        ("sm.OLS", "sm.GLM", "sm.Logit", "sm.QuantReg", "sm.MNLogit"),
    ),
    "fit options": Kind(
        ("3", "'q'", "{3: 3}", "float('nan')", "{'method': 'no such'}"), ("None", "{}")
    ),
}
