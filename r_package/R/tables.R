# Tables: what is asked of a fit, and R's generics for the answers.
measure <- function(object, estimand, ...) {
  stopifnot("`object` must be what `learn` or `of_model` returns" = inherits(object, "pyinterp_fit"))
  as_table(py(object$py, estimand, ...), "to_r", object$formula)
}
pfi <- function(object, ...) measure(object, "pfi", ...)
pd <- function(object, ...) measure(object, "pd", ...)
loco <- function(object, ...) measure(object, "loco", ...)
population <- function(object, ...) measure(object, "population", ...)
contrasts_of <- function(object, hypotheses) {
  as_table(py(object$py, "t_test", hypotheses), "summary_frame", object$formula, object$nobs)
}
compare_fits <- function(object, ...) {
  given <- lapply(list(...), function(x) if (inherits(x, c("pyinterp_fit", "pyinterp_table"))) x$py else x)
  as_table(do.call(py, c(list(python()$pyinterp, "compare", object$py), given)), "to_r", object$formula)
}

# What is stored here can be read after readRDS, where Python's object is gone.
as_table <- function(results, rows, formula, nobs = py(results, "nobs")) {
  table <- list(py = results, rows = rows, formula = formula, nobs = nobs, text = py(results, "__str__"))
  structure(c(table, list(frame = rows_of(table))), class = "pyinterp_table")
}
rows_of <- function(x, ...) {
  frame <- py(x$py, x$rows, ...)
  names(frame) <- sub("^(std|p|conf)_(error|value|low|high)$", "\\1.\\2", names(frame))
  if (reticulate::py_has_attr(x$py, "relevance")) with_relevance(frame, x$py, ...) else frame
}

# Coefficients of `population`, and beside them what its table has below, by feature: of zone[w - e] that of zone.
with_relevance <- function(frame, results, ...) {
  r2 <- py(py(results, "diagnostic"), "to_r")
  relevance <- py(py(results, "relevance"), "to_r", ...)
  feature <- vapply(frame$term, function(term) {
    relevance$term[relevance$term == term | startsWith(term, paste0(relevance$term, "["))][1L]
  }, "")
  at <- match(feature, relevance$term)
  frame$r2_j <- r2$estimate[match(feature, r2$term)]
  frame$share_low <- relevance$conf.low[at]
  frame$p_relevant <- relevance$p.value[at]
  frame[setdiff(names(frame), "diagnostic")]
}

print.pyinterp_fit <- print.pyinterp_table <- function(x, ...) {
  writeLines(if (...length()) py(py(x$py, "summary", ...), "as_text") else x$text)
  invisible(x)
}
summary.pyinterp_fit <- function(object, ...) pfi(object, ...)
summary.pyinterp_table <- function(object, ...) object
coef.pyinterp_table <- function(object, ...) stats::setNames(object$frame$estimate, object$frame[[1L]])
vcov.pyinterp_table <- function(object, ...) {
  cov <- as.matrix(Filter(is.numeric, py(object$py, "cov_params")))
  dimnames(cov) <- rep(list(object$frame[[1L]]), 2L)
  cov
}
confint.pyinterp_table <- function(object, parm = object$frame[[1L]], level = 0.95, ...) {
  frame <- if (level == 0.95) object$frame else rows_of(object, 1 - level)
  limits <- as.matrix(frame[c("conf.low", "conf.high")])
  ends <- paste(format(50 + c(-50, 50) * level, trim = TRUE, digits = 3), "%")
  dimnames(limits) <- list(object$frame[[1L]], ends)
  limits[parm, , drop = FALSE]
}
nobs.pyinterp_table <- function(object, ...) object$nobs
nobs.pyinterp_fit <- function(object, ...) py(object$py, "nobs")
formula.pyinterp_fit <- formula.pyinterp_table <- function(x, ...) x$formula
as.data.frame.pyinterp_table <- function(x, ...) x$frame
tidy.pyinterp_table <- function(x, conf.int = FALSE, conf.level = 0.95, ...) {
  frame <- if (conf.level == 0.95) x$frame else rows_of(x, 1 - conf.level)
  if (conf.int) frame else frame[setdiff(names(frame), c("conf.low", "conf.high"))]
}
glance.pyinterp_table <- function(x, ...) {
  frame <- py(x$py, "glance")
  stats::setNames(frame, sub("df_resid", "df.residual", names(frame)))
}
predict.pyinterp_fit <- function(object, newdata, ...) py(object$py, "predict", newdata[object$variables])

plot.pyinterp_table <- function(x, ..., width = 7, height = 4, dpi = 150) {
  if (!requireNamespace("png", quietly = TRUE)) stop("`plot` needs the package png", call. = FALSE)
  file <- tempfile(fileext = ".png")
  on.exit(unlink(file))
  py(py(x$py, "plot", ...), "save", file, width = width, height = height, dpi = dpi, verbose = FALSE)
  grid::grid.newpage()
  grid::grid.raster(png::readPNG(file))  # drawn by Python, shown on R's device
  invisible(x)
}
