# Partial dependence by its definition: for every grid point the mean prediction of all rows with the
# variables put to that point.

partial <- function(object, pred.var, pred.grid = NULL, grid.resolution = NULL, quantiles = FALSE,
                    probs = 1:9 / 10, type, inv.link = NULL, which.class = 1L, prob = FALSE,
                    train) {
  if (is.null(pred.grid)) {
    axes <- lapply(train[pred.var], axis_of, grid.resolution, quantiles, probs)
    pred.grid <- expand.grid(axes, stringsAsFactors = FALSE)
  }
  for (name in pred.var) {
    if (is.integer(train[[name]])) pred.grid[[name]] <- as.integer(pred.grid[[name]])
  }
  pred.grid$yhat <- vapply(seq_len(nrow(pred.grid)), function(i) {
    rows <- train
    for (name in pred.var) rows[[name]] <- rep(pred.grid[[name]][i], nrow(rows))
    mean(on_scale(object, rows, type, inv.link, which.class, prob))
  }, 0)
  pred.grid
}

axis_of <- function(x, points, quantiles, probs) {
  if (is.factor(x)) return(factor(levels(x), levels(x), ordered = is.ordered(x)))
  if (!is.numeric(x)) return(sort(unique(x)))
  if (quantiles) return(unname(stats::quantile(x, probs)))
  if (is.null(points)) points <- min(length(unique(x)), 51L)
  seq(min(x), max(x), length.out = points)
}

on_scale <- function(object, rows, type, inv.link, which.class, prob) {
  if (type == "regression") {
    value <- stats::predict(object, newdata = rows)
    return(if (is.null(inv.link)) value else inv.link(value))
  }
  p <- stats::predict(object, newdata = rows, type = "prob")
  if (prob) return(p[, which.class])
  logs <- log(ifelse(p > 0, p, .Machine$double.eps))
  logs[, which.class] - rowMeans(logs)
}
