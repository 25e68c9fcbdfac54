# Importance by the flatness of partial dependence and by permutation; interaction of pairs.

range4 <- function(x) diff(range(x)) / 4

vi_firm <- function(object, feature_names, train, var_continuous = stats::sd,
                    var_categorical = range4, ...) {
  flatness <- vapply(feature_names, function(name) {
    spread <- if (is.factor(train[[name]])) var_categorical else var_continuous
    spread(pdp::partial(object, name, train = train, ...)$yhat)
  }, 0)
  data.frame(Variable = feature_names, Importance = unname(flatness))
}

# Loss of truth and estimate; of a factor the estimate is a class, or the probability of a level.
losses <- list(
  rmse = function(truth, estimate, level) sqrt(mean((truth - estimate)^2)),
  accuracy = function(truth, estimate, level) -mean(truth == estimate),
  logloss = function(truth, estimate, level) {
    event <- truth == levels(truth)[if (identical(level, "second")) 2L else 1L]
    -mean(log(ifelse(event, estimate, 1 - estimate)))
  }
)

vi_permute <- function(object, feature_names, train, target, metric, smaller_is_better = NULL,
                       type = "difference", nsim = 1, keep = TRUE, sample_size = NULL,
                       sample_frac = NULL, event_level = NULL, pred_wrapper) {
  loss <- function(rows) losses[[metric]](target, pred_wrapper(object, newdata = rows), event_level)
  worse <- matrix(0, length(feature_names), nsim)
  for (i in seq_len(nsim)) {
    for (j in seq_along(feature_names)) {
      rows <- train
      rows[[feature_names[j]]] <- rows[[feature_names[j]]][sample(nrow(rows))]
      worse[j, i] <- loss(rows) - loss(train)
    }
  }
  found <- data.frame(Variable = feature_names, Importance = rowMeans(worse))
  if (nsim > 1L) {
    found$StDev <- apply(worse, 1L, stats::sd)
    attr(found, "raw_scores") <- worse
  }
  found
}
