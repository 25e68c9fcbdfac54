# Python, found on first use. What crosses are columns of doubles and levels, numbers and names.
state <- new.env(parent = emptyenv())
python <- function() {
  if (is.null(state$bridge)) {
    bridge <- tryCatch(reticulate::import("r_bridge.from_r", convert = FALSE), error = function(e) {
      stop("pyinterpstats needs Python 3.11 or later with its package pyinterp-stats: run ",
           "reticulate::py_install(\"pyinterp-stats\", pip = TRUE), or in a clone make demo; set ",
           "RETICULATE_PYTHON to a Python that has it, and start R anew (", strsplit(conditionMessage(e), "\n")[[1L]][1L], ")", call. = FALSE)
    })
    state$pyinterp <- reticulate::import("pyinterp", convert = FALSE)
    state$fits <- new.env(parent = globalenv())  # how models of R predict: Python's table
    folder <- dirname(as.character(reticulate::py_to_r(bridge$`__file__`)))
    for (file in c("bridge.R", "formulas.R", "fits.R")) sys.source(file.path(folder, file), state$fits)
    state$bridge <- bridge
  }
  state
}

# What `owner.name(...)` is in Python. Its warnings and errors are R's, of the same classes. R's random
# numbers go on as before, whatever learners of R drew meanwhile.
py <- function(owner, name, ...) {
  if (reticulate::py_is_null_xptr(owner)) {
    stop("this was made in another session of R, and its models are gone: make it again", call. = FALSE)
  }
  seed <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (!is.null(seed)) assign(".Random.seed", seed, globalenv()))
  answer <- do.call(python()$bridge$attempt, c(list(owner, name), lapply(list(...), to_python)))
  said <- reticulate::py_to_r(reticulate::py_get_item(answer, 1L))
  for (warned in said$warned) warning(condition(warned, "warning"))
  if (!is.null(said$error)) stop(condition(said$error, "error"))
  value <- reticulate::py_get_item(answer, 0L)
  switch(said$kind, plain = reticulate::py_to_r(value), frame = from_columns(reticulate::py_to_r(value)), value)
}

condition <- function(said, kind) {
  structure(list(message = said[[2L]], call = NULL), class = c(unlist(said[[1L]]), kind, "condition"))
}

# Whole numbers are integers in Python; a list stays one, of one value too.
to_python <- function(x) {
  if (is.data.frame(x)) return(python()$bridge$frame(to_columns(x)))
  if (is.list(x) && !is.object(x)) return(lapply(x, to_python))
  if (is.factor(x)) x <- as.character(x)
  if (is.character(x) && anyNA(x)) stop("an option can't be NA", call. = FALSE)
  whole <- is.numeric(x) && !anyNA(x) && all(abs(x) < 2^31 & x == round(x))
  if (whole) as.integer(x) else if (is.numeric(x)) as.double(x) else x
}

kind_of <- function(x) {
  for (kind in c("ordered", "factor", "Date", "POSIXct")) if (inherits(x, kind)) return(kind)
  if (is.object(x) || !is.null(dim(x))) return("")
  switch(typeof(x), double = , integer = , logical = , character = typeof(x), "")
}

to_columns <- function(data) {
  kinds <- vapply(data, kind_of, "")
  for (name in names(data)[kinds == ""]) {
    stop("columns must be numbers, logicals, text, factors, dates or times, but `", name, "` is of class ",
         class(data[[name]])[1L], ": convert it", call. = FALSE)
  }
  mapply(SIMPLIFY = FALSE, x = as.list(data), kind = kinds, FUN = function(x, kind) {
    if (kind == "character") x <- factor(x)
    c(list(kind = kind, values = as.double(x)), if (is.factor(x)) list(levels = as.list(levels(x))),
      if (kind == "POSIXct") list(tz = c(attr(x, "tzone"), "")[1L]))
  })
}

from_columns <- function(columns) list2DF(lapply(columns, from_column))
from_column <- function(column) {
  x <- as.double(column$values)
  x[is.nan(x)] <- NA
  levels <- as.character(column$levels)
  switch(column$kind, double = x, integer = as.integer(x), logical = as.logical(x), character = levels[x],
         Date = structure(x, class = "Date"), POSIXct = as.POSIXct(x, column$tz, origin = "1970-01-01"),
         factor(levels[x], levels, ordered = column$kind == "ordered"))
}

# A function of R for Python. How it ended is told, never thrown through the other language.
callback <- function(f) reticulate::r_to_py(convert = TRUE, function(...) {
  warned <- list()
  ended <- function(how, value) list(value = value, ended = how, warned = warned)
  tryCatch(withCallingHandlers({
    value <- f(...)
    ended("well", value)
  }, warning = function(w) {
    warned[[length(warned) + 1L]] <<- conditionMessage(w)
    tryInvokeRestart("muffleWarning")
  }), error = function(e) ended("error", conditionMessage(e)), interrupt = function(e) ended("interrupt", NULL))
})
