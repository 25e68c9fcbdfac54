# Fits: learners on resamples, and models that R has fitted already.
learn <- function(formula, data, learner, plan = NULL, seed = NULL, ..., fit = list(), options = list()) {
  name <- if (is.character(learner)) learner else deparse1(substitute(learner))
  if (is.character(learner) && grepl("::", learner, fixed = TRUE)) learner <- eval(str2lang(learner))
  by_r <- is.function(learner)
  terms <- stats::terms(stats::as.formula(formula), data = data)
  formula <- stats::formula(terms)
  if (length(formula) < 3L) stop("`formula` must have a response, as in y ~ x", call. = FALSE)
  response <- deparse1(formula[[2L]])
  y <- eval(formula[[2L]], data, environment(formula))
  class(y) <- setdiff(oldClass(y), "AsIs")  # of I(...)
  data[[response]] <- y
  labels <- attr(terms, "term.labels")
  variables <- variables_of(terms, if (!by_r) labels, data)
  plain <- all(labels %in% c(variables, paste0("`", variables, "`")))
  no_intercept <- !by_r && !attr(terms, "intercept")
  if (by_r) {
    estimator <- of_r(learner, name, formula, variables, plain, data[[response]], list(...))
  } else {
    estimator <- if (is.character(learner)) py(python()$bridge, "estimator", learner, ...) else learner
    if (no_intercept && !identical(list(...)$fit_intercept, FALSE)) {
      stop("`- 1` needs a learner without an intercept: leave it out, or pass fit_intercept = FALSE", call. = FALSE)
    }
    frame <- stats::model.frame(stats::delete.response(terms), data, na.action = stats::na.pass)
    data[["offset(...)"]] <- stats::model.offset(frame)
    if (!is.null(data[["offset(...)"]])) options$offset <- "offset(...)"
    plain <- plain && !any(vapply(data[variables], kind_of, "") %in% c("Date", "POSIXct"))
    if (!plain) {
      words <- paste(labels, collapse = " + ")
      estimator <- python()$bridge$on_columns(callback(columns_of(terms, variables)), words, estimator)
      options$design <- "frame"
    }
  }
  if (by_r || !plain) fit$n_jobs <- NULL  # R computes in one thread
  quoted <- vapply(c(response, variables), function(v) {
    if (grepl("^[A-Za-z_][A-Za-z0-9_]*$", v)) v else sprintf("Q(%s)", encodeString(v, quote = "\""))
  }, "")
  text <- paste(quoted[1L], "~", paste(c(quoted[-1L], if (plain && no_intercept) "0"), collapse = " + "))
  known <- vapply(data, kind_of, "") != "" | names(data) %in% c(response, variables)
  made <- do.call(py, c(list(python()$pyinterp$Learner, "from_formula", text, data[known], estimator), options))
  as_fit(do.call(py, c(list(made, "fit", plan, seed = seed), fit)), formula, variables, match.call())
}

# Columns of the data that terms name; other names must be numbers where the formula was written, or
# functions that are arguments, as in C(x, contr.sum).
variables_of <- function(terms, labels, data) {
  names <- all.vars(stats::delete.response(terms))
  alone <- as.character(Filter(is.symbol, as.list(attr(terms, "variables"))))
  is <- function(v, mode) exists(v, environment(terms), mode = mode)
  absent <- Filter(function(v) !is(v, "numeric") && (v %in% alone || !is(v, "function")), setdiff(names, names(data)))
  if (length(absent)) {
    stop("`data` has no column ", toString(absent), "; its columns are ", toString(names(data), 200L), call. = FALSE)
  }
  if (!is.null(labels)) names <- all.vars(str2expression(labels))  # without an offset's
  intersect(names, names(data))
}

# Columns of terms for Python: what a design learns (knots, centers, levels) is of the rows of the fit.
columns_of <- function(terms, variables) {
  formula <- stats::formula(stats::delete.response(terms))
  kept <- list()
  function(columns, key = NULL) {
    rows <- from_columns(columns)
    if (is.null(key)) {
      frame <- stats::model.frame(without_absent(formula, variables, rows), rows)
      terms <- attr(frame, "terms")
      contrasts <- attr(stats::model.matrix(terms, frame), "contrasts")
      kept[[length(kept) + 1L]] <<- list(terms, stats::.getXlevels(terms, frame), contrasts)
      return(length(kept))
    }
    frame <- state$fits$with_contrasts(stats::model.frame(kept[[key]][[1L]], rows, xlev = kept[[key]][[2L]]))
    design <- stats::model.matrix(kept[[key]][[1L]], frame, kept[[key]][[3L]])
    as.double(design[, colnames(design) != "(Intercept)"])
  }
}

# A learner of R: Python asks it to fit, and to predict by the key of a fit.
of_r <- function(fun, name, formula, variables, plain, y, arguments) {
  for (each in names(arguments)[lengths(arguments) == length(y)]) {
    stop("`", each, "` has a value for each row, which refits can't draw: use a column, in a ",
         "function(formula, data) of your own", call. = FALSE)
  }
  if (grepl("function ?\\(", name)) name <- "function of R"
  shown <- if (plain) name else paste0(name, "(", deparse1(formula), ")")
  # As it is analyzed, log(y) too: by a plain word, since mgcv reads names as code.
  response <- make.unique(c(variables, make.names(deparse1(formula[[2L]]))))[length(variables) + 1L]
  formula[[2L]] <- as.name(response)
  classes <- is.factor(y) || is.character(y) || is.logical(y)
  needed <- switch(sub(".*::", "", name), ranger = , svm = list(probability = TRUE),
                   glm = , gam = , bam = list(family = "binomial"))
  if (classes) arguments <- utils::modifyList(as.list(needed), arguments)
  kept <- new.env()
  fit <- function(columns, y, seed) {
    rows <- from_columns(columns)
    rows[[response]] <- from_column(y)
    formula <- without_absent(formula, variables, rows)
    set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
    call <- as.call(c(quote(fun), quote(formula), data = quote(rows), arguments))
    model <- tryCatch(eval(call), error = function(e) {
      remedy <- ". Rows have missing values: leave them out by options = list(missing = \"drop\"), or fill them in"
      stop(sub("[.]$", "", conditionMessage(e)), if (anyNA(rows, recursive = TRUE)) remedy, call. = FALSE)
    })
    key <- as.character(length(kept) + 1L)
    kept[[key]] <- list(model, if (classes) levels(factor(rows[[response]])))
    key
  }
  answer <- function(key, columns) predicted(kept[[key]], columns)
  python()$bridge$learner_of_r(callback(fit), callback(answer), shown, if (classes) list())
}
# A formula for rows that lack variables, as those of `loco` do.
without_absent <- function(formula, variables, rows) {
  state$fits$formula_without(formula, setdiff(variables, names(rows)), names(rows))
}
predicted <- function(kept, columns, params = NULL) {
  as.double(state$fits$predict_fit(kept[[1L]], from_columns(columns), kept[[2L]], NULL, TRUE, params))
}

of_model <- function(model, data, response, predict = NULL, classes = NULL, ..., options = list()) {
  asked <- if (is.null(predict)) model else function(rows) predict(model, rows, ...)
  about <- python()$fits$describe_fit(asked)
  if (is.null(classes)) classes <- about$classes
  variables <- intersect(about$variables, names(data))
  if (!length(variables)) variables <- setdiff(names(data), response)
  y <- data[[response]]
  to <- if (is.null(predict) && is.null(classes)) state$fits$transformed(model)
  if (response %in% to[-1L]) {
    stop("the model was fitted to ", to[1L], ", not to ", response, ": add that as a column, and name it", call. = FALSE)
  }
  labels <- if (is.factor(y) || is.character(y)) classes else utils::type.convert(classes, as.is = TRUE)
  answer <- callback(function(key, columns, params = NULL) predicted(list(asked, classes), columns, params))
  labels <- if (!is.null(classes)) as.list(labels)
  estimator <- python()$bridge$learner_of_r(NULL, answer, class(model)[1L], labels, "", unname(about$stated))
  made <- do.call(py, c(list(python()$pyinterp, "FittedModel", estimator, data[c(variables, response)], response), options))
  as_fit(made, stats::reformulate(sprintf("`%s`", variables), response), variables, match.call())
}
as_fit <- function(results, formula, variables, call) {
  fit <- list(py = results, formula = formula, variables = variables, call = call, text = py(results, "__str__"))
  structure(fit, class = "pyinterp_fit")
}

# Plans, by their names in Python. The default is half-sampling: 15 refits, and 15 pairs on halves.
plan_of <- function(name, ...) py(python()$pyinterp, name, ...)
half_sampling <- function(...) plan_of("HalfSampling", ...)
