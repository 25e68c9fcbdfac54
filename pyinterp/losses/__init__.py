"""Losses: the costs of predictions.

`rowwise` has losses of one row, whose mean over rows is a risk; `metrics` has functions of all
rows, such as the root mean squared error or the area under the ROC curve; `metric_functions` takes
functions of users, and scorers of scikit-learn, which `scorers` reads; `predictive` has losses of
predictive distributions, negative log likelihood and entropy. In come responses and predictions;
out go numbers, each with its best constant prediction where there is one. A new loss is a `Loss`, a
new metric a `Metric`: nothing else must change.
"""
