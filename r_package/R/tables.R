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

# What is stored here can be read after readRDS, where Python's object is gone.
as_table <- function(results, rows, formula, nobs = py(results, "nobs")) {
  table <- list(py = results, rows = rows, formula = formula, nobs = nobs, text = py(results, "__str__"))
  structure(c(table, list(frame = rows_of(table))), class = "pyinterp_table")
}
rows_of <- function(x, ...) {
  frame <- py(x$py, x$rows, ...)
  stats::setNames(frame, sub("^(std|p|conf)_(error|value|low|high)$", "\\1.\\2", names(frame)))
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
