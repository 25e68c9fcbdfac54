# Fitted models of R: what they predict, from what, and how they are asked. One entry per class of
# fit; evaluated after bridge.R, in its environment.
#
# package      whose `predict` method it is
# classes      names of the classes, in R's order; NULL for a regression
# variables    names of the variables
# levels       levels of the factors among them, by name
# mean         arguments of `predict` for means
# probability  arguments of `predict` for class probabilities
# label        arguments of `predict` for class labels, where there are some
# said         where in the value of `predict` the labels are
# cutoff       by class, what probabilities are divided by before the largest is the label
# newdata      name of the argument for new rows
# complete     rows as `predict` wants them
# take         where in the value of `predict` the numbers are
# importance   what it reports as importance: the quantity's name, and the variables' values by name
# event_first  whether R's pdp, asked about the fit itself, has the second of two classes, the event,
#              as its first (its columns are p and 1 - p: where R predicts one probability)

terms_of <- function(fit) variables_among(stats::terms(fit), fit)

# Variables among the names in terms, by R's own rule for model frames: a name that is no column of
# the data is looked up where the formula was written. A single value there, such as `pi`, is a
# constant. If the data are gone, only what base R has is known to be one.
variables_among <- function(terms, fit, names = all.vars(stats::delete.response(terms))) {
  bare <- intersect(names, names(attr(terms, "dataClasses")))
  where <- environment(terms)
  data <- data_of(fit, where)
  if (!all(bare %in% names(data))) data <- NULL
  constant <- function(name) {
    value <- get0(name, if (is.null(data)) baseenv() else where)
    is.atomic(value) && length(value) == 1L
  }
  setdiff(names, Filter(constant, setdiff(names, c(bare, names(data)))))
}

# Rows with the constants of a formula as columns, in which mgcv looks for them.
with_constants <- function(fit, rows) {
  for (name in setdiff(all.vars(fit$pred.formula), names(rows))) {
    rows[[name]] <- get0(name, environment(fit$terms))
  }
  rows
}

# The data frame that a model was fitted to, if it is still there.
data_of <- function(fit, where) {
  data <- fit$data
  if (is.symbol(fit$call$data)) data <- get0(as.character(fit$call$data), where)
  if (is.data.frame(data)) data
}

terms_if_any <- function(fit) if (!is.null(fit$terms)) terms_of(fit)
lev_of <- function(fit) fit$lev
binomial_classes <- function(fit) {
  if (!fit$family$family %in% c("binomial", "quasibinomial")) return(NULL)
  response <- response_of(fit)
  if (is.factor(response)) return(if (nlevels(response) == 2L) levels(response))
  if (is.logical(response)) return(c("FALSE", "TRUE"))
  if (is.null(dim(response)) && all(response %in% 0:1)) c("0", "1")
}
# The response of a generalized linear model. Without its model frame there is `y`, 0 and 1, of which
# the data, if it has kept them, may have the names.
response_of <- function(fit) {
  if (!is.null(fit$model)) return(stats::model.response(fit$model))
  formula <- stats::formula(fit)
  named <- if (is.data.frame(fit$data)) {
    tryCatch(eval(formula[[2L]], fit$data, environment(formula)), error = function(e) NULL)
  }
  if (is.factor(named) || is.logical(named) || !is.null(dim(named))) return(named)
  if (is.null(fit$y)) {
    stop("a binomial model that keeps neither `model` nor `y` does not say what its classes are; ",
         "fit it with y = TRUE", call. = FALSE)
  }
  fit$y
}
always <- function(fit) TRUE
response <- list(type = "response")

entries <- list(
  randomForest = list(
    package = "randomForest",
    classes = function(fit) if (fit$type == "classification") fit$classes,
    variables = function(fit) {
      if (is.null(fit$terms)) rownames(fit$importance) else terms_of(fit)
    },
    levels = function(fit) fit$forest$xlevels,
    mean = list(), probability = list(type = "prob"),
    # With importance = TRUE it permutes out-of-bag rows too: the column before the impurity's.
    importance = function(fit) {
      k <- max(ncol(fit$importance) - 1L, 1L)
      list(colnames(fit$importance)[k], fit$importance[, k])
    },
    # The rule of its `predict`, which breaks ties at random: here the first class has them.
    cutoff = function(fit, options) {
      cutoff <- if (is.null(options$cutoff)) fit$forest$cutoff else options$cutoff
      stats::setNames(cutoff, fit$classes)
    }
  ),
  ranger = list(
    package = "ranger",
    classes = function(fit) {
      if (fit$treetype == "Classification") {
        stop("a ranger forest of classes gives no probabilities; fit it with probability = TRUE",
             call. = FALSE)
      }
      if (fit$treetype == "Probability estimation") colnames(fit$predictions)
    },
    variables = function(fit) fit$forest$independent.variable.names,
    levels = function(fit) fit$forest$covariate.levels,
    mean = list(), probability = list(), newdata = "data",
    take = function(value) value$predictions,
    importance = function(fit) {
      if (is.null(fit$variable.importance)) {
        stop("a ranger forest reports importances only if it was fitted for them; fit it with ",
             'importance = "impurity"', call. = FALSE)
      }
      list(fit$importance.mode, fit$variable.importance)
    }
  ),
  rpart = list(
    package = "rpart",
    classes = function(fit) if (fit$method == "class") attr(fit, "ylevels"),
    variables = terms_of,
    levels = function(fit) attr(fit, "xlevels"),
    mean = list(type = "vector"), probability = list(type = "prob"), label = list(type = "class"),
    importance = function(fit) list("variable.importance", fit$variable.importance)
  ),
  gbm = list(
    package = "gbm",
    classes = function(fit) {
      switch(fit$distribution$name,
             bernoulli = , adaboost = , huberized = c("0", "1"), multinomial = fit$classes)
    },
    variables = function(fit) {
      if (is.null(fit$Terms)) fit$var.names else variables_among(fit$Terms, fit)
    },
    levels = function(fit) stats::setNames(fit$var.levels, fit$var.names),
    mean = response, probability = response,
    more = function(fit) list(n.trees = fit$n.trees),
    importance = function(fit) list("relative influence", gbm::relative.influence(fit, fit$n.trees)),
    event_first = function(fit) fit$distribution$name != "multinomial"
  ),
  multinom = list(
    package = "nnet", classes = lev_of, variables = terms_of,
    levels = function(fit) fit$xlevels, mean = list(), probability = list(type = "probs"),
    label = list(type = "class"),
    event_first = function(fit) length(fit$lev) == 2L
  ),
  polr = list(
    package = "MASS", classes = lev_of, variables = terms_of,
    levels = function(fit) fit$xlevels, mean = list(), probability = list(type = "probs"),
    label = list(type = "class")
  ),
  nnet = list(
    package = "nnet", classes = lev_of,
    variables = terms_if_any,
    levels = function(fit) fit$xlevels, mean = list(type = "raw"), probability = list(type = "raw"),
    label = list(type = "class"),
    event_first = function(fit) fit$n[length(fit$n)] == 1L  # one output
  ),
  lda = list(
    package = "MASS", classes = lev_of, variables = terms_if_any,
    levels = function(fit) fit$xlevels, mean = list(), probability = list(),
    take = function(value) value$posterior, label = list(), said = function(value) value$class
  ),
  svm = list(
    package = "e1071",
    classes = function(fit) {
      if (fit$type > 1L) return(NULL)
      if (!fit$compprob) {
        stop("a support vector machine of classes gives no probabilities; fit it with ",
             "probability = TRUE", call. = FALSE)
      }
      fit$levels
    },
    variables = terms_if_any,
    levels = function(fit) fit$xlevels, mean = list(), probability = list(probability = TRUE),
    label = list(),
    take = function(value) {
      probabilities <- attr(value, "probabilities")
      if (is.null(probabilities)) value else probabilities
    }
  ),
  gam = list(
    package = "mgcv", classes = binomial_classes,
    variables = function(fit) variables_among(fit$terms, fit, all.vars(fit$pred.formula)),
    levels = function(fit) fit$xlevels, mean = response, probability = response,
    complete = with_constants, event_first = always
  ),
  glm = list(
    package = "stats", classes = binomial_classes, variables = terms_of,
    levels = function(fit) fit$xlevels, mean = response, probability = response,
    event_first = always
  ),
  lm = list(
    package = "stats", classes = function(fit) NULL, variables = terms_of,
    levels = function(fit) fit$xlevels, mean = list(), probability = list()
  )
)

entries$qda <- entries$lda

# A function of new rows, which gives what a model predicts.
entries$`function` <- list(
  package = NULL, classes = function(fit) NULL, variables = function(fit) NULL,
  levels = function(fit) NULL, mean = list(), probability = list()
)

# The coefficients of a glmnet, by its columns: one matrix, or one for each class.
beta_of <- function(fit) {
  if (!is.null(fit$glmnet.fit)) fit <- fit$glmnet.fit
  if (is.list(fit$beta)) fit$beta[[1L]] else fit$beta
}
# Its `predict` takes a matrix.
entries$glmnet <- list(
  package = "glmnet",
  classes = function(fit) if (is.null(fit$glmnet.fit)) fit$classnames else fit$glmnet.fit$classnames,
  variables = function(fit) rownames(beta_of(fit)), levels = function(fit) NULL,
  mean = response, probability = response, label = list(type = "class"),
  newdata = "newx", complete = function(fit, rows) {
    numbers <- vapply(rows, function(x) is.numeric(x) || is.logical(x), NA)
    if (!all(numbers)) stop(
      "a glmnet takes numbers, but ", toString(names(rows)[!numbers]), " is a factor or text; write a ",
      "function of R that makes the matrix, f <- function(rows) predict(fit, model.matrix(~ ., rows)[, -1]), ",
      "and pass it as the model", call. = FALSE
    )
    columns <- rownames(beta_of(fit))
    as.matrix(if (all(columns %in% names(rows))) rows[columns] else rows)
  },
  event_first = function(fit) FALSE
)
entries$cv.glmnet <- entries$glmnet

# Of a class that is not listed: what most packages do.
other <- list(
  package = NULL, classes = function(fit) NULL,
  variables = function(fit) tryCatch(terms_of(fit), error = function(e) NULL),
  levels = function(fit) if (is.list(fit)) fit$xlevels,
  mean = response, probability = response, label = list(type = "class"),
  event_first = function(fit) inherits(fit, "earth")
)

entry_of <- function(fit) {
  known <- intersect(class(fit), names(entries))
  entry <- if (length(known)) entries[[known[1L]]] else other
  if (!is.null(entry$package)) loadNamespace(entry$package)
  entry
}

counts_event_first <- function(fit) {
  rule <- entry_of(fit)$event_first
  !is.null(rule) && isTRUE(rule(fit))
}

# The family of glm or gam in lower case, if its link is the logarithm; else "". The deviance of a
# quasi-family is that of the family.
log_family <- function(family) {
  if (is.character(family)) family <- get(family, globalenv(), mode = "function")
  if (is.function(family)) family <- family()
  of_log <- inherits(family, "family") && identical(family$link, "log")
  if (of_log) sub("^quasi", "", tolower(family$family)) else ""
}
log_family_of <- function(fit) if (inherits(fit, "glm")) log_family(fit$family) else ""

# The importances that a fit reports, of these variables: those that its trees do not use have 0.
importance_of <- function(fit, variables) {
  rule <- entry_of(fit)$importance
  if (is.null(rule)) return(NULL)
  found <- rule(fit)
  beyond <- setdiff(names(found[[2L]]), variables)
  if (length(beyond)) {
    stop("the model reports importances of terms such as ", beyond[1L], ", not of variables; use PFI",
         call. = FALSE)
  }
  values <- unname(found[[2L]][variables])
  list(found[[1L]], ifelse(variables %in% names(found[[2L]]), values, 0))
}

# The response of a regression that is a function of variables, and their names; else nothing.
transformed <- function(fit) {
  written <- tryCatch(stats::formula(fit), error = function(e) tryCatch(fit$call[[2L]], error = function(e) NULL))
  left <- if (length(written) > 2L) written[[2L]]
  if (is.call(left)) c(deparse1(left), all.vars(left)) else ""
}

# Of lm and glm: coefficients, their covariance column by column, and degrees of freedom of R's tests, if those are t.
stated <- function(fit) {
  if (!identical(class(fit), "lm") && !identical(class(fit), c("glm", "lm"))) return(list())
  normal <- inherits(fit, "glm") && fit$family$family %in% c("poisson", "binomial")
  beta <- stats::coef(fit)
  # A perfect fit warns; one without its parts, as they are kept for large data, has no covariance.
  cov <- tryCatch(suppressWarnings(stats::vcov(fit, complete = FALSE)), error = function(e) NULL)
  if (is.null(cov)) return(list())
  cov <- as.double(cov)
  list(beta[!is.na(beta)], cov, if (normal) Inf else fit$df.residual)
}

describe_fit <- function(fit) {
  entry <- entry_of(fit)
  levels <- Filter(is.character, as.list(entry$levels(fit)))
  list(
    class = class(fit),
    classes = entry$classes(fit),
    variables = as.character(entry$variables(fit)),
    transformed = transformed(fit),
    stated = stated(fit),
    level_names = as.character(names(levels)),
    levels = unname(levels)
  )
}

# Predictions: a vector of means, or a matrix of probabilities with columns as `classes`. Methods
# of `predict` are those of the user's session. `params` take the place of the coefficients.
predict_fit <- function(fit, newdata, classes = NULL, options = NULL, learner = FALSE, params = NULL) {
  if (!is.null(params)) fit$coefficients[!is.na(fit$coefficients)] <- params
  entry <- entry_of(fit)
  known <- if (is.null(classes)) entry$mean else entry$probability
  if (!is.null(entry$more)) known <- c(known, entry$more(fit))
  # Of a class that is not listed, `predict` may not take the arguments that most take.
  options <- if (is.null(options)) known else if (identical(entry, other)) options else {
    utils::modifyList(known, as.list(options))
  }
  predicted <- function() ask(entry, fit, newdata, options)
  value <- if (!identical(entry, other)) predicted() else tryCatch(predicted(), error = function(e) {
    stop("`predict` of a model of class ", paste(class(fit), collapse = "/"), " failed with ",
         shown(as.call(c(quote(list), options))), ": ", conditionMessage(e),
         "; pass its arguments as `predict_args`, or, if it takes no data frame, write a function of R ",
         "and pass that as the model: f <- function(rows) predict(fit, as.matrix(rows))", call. = FALSE)
  })
  if (!is.null(entry$take)) value <- entry$take(value)
  if (is.data.frame(value)) value <- as.matrix(value)
  answer <- if (is.null(classes)) means_in(value, nrow(newdata)) else {
    probabilities_in(value, classes, nrow(newdata))
  }
  if (is.null(answer)) stop(unusable(value, fit, classes, nrow(newdata), learner), call. = FALSE)
  answer
}

# Positions in `classes` of the labels that R predicts: by the `predict` of the class of fit where it
# says labels, else those of the most probable classes.
predict_labels <- function(fit, newdata, classes, options = NULL, learner = FALSE, params = NULL) {
  entry <- entry_of(fit)
  labels <- if (!is.null(entry$label)) {
    arguments <- utils::modifyList(as.list(options), entry$label)
    said <- function() ask(entry, fit, newdata, arguments)
    # A class that is not listed may have none.
    if (identical(entry, other)) tryCatch(said(), error = function(e) NULL) else said()
  }
  if (!is.null(entry$said)) labels <- entry$said(labels)
  if (is.factor(labels) || is.character(labels)) {
    place <- match(as.character(labels), classes)
    if (length(place) == nrow(newdata) && !anyNA(place)) return(place)
  }
  probabilities <- predict_fit(fit, newdata, classes, options, learner, params)
  if (!is.null(entry$cutoff)) {
    probabilities <- sweep(probabilities, 2L, entry$cutoff(fit, options)[classes], "/")
  }
  # Rows without probabilities have the first class, as the largest of none has in Python.
  apply(probabilities, 1L, function(row) if (anyNA(row)) 1L else which.max(row))
}

# Whether `predict` leaves an offset out: that of an argument in mgcv, and in glm and lm if it is of no
# column; that of the formula elsewhere.
loses_offset <- function(entry, fit, newdata) switch(
  paste0(entry$package, ""), mgcv = !is.null(fit$call$offset),
  stats = !all(all.vars(fit$call$offset) %in% names(newdata)),
  rpart = , nnet = , MASS = , randomForest = !is.null(attr(fit$terms, "offset")), FALSE
)

# Model frames of new rows warn that they lose the contrasts of C(), which model matrices are given
# all the same.
with_contrasts <- function(value) withCallingHandlers(value, warning = function(w) {
  words <- gettext("contrasts dropped from factor %s", domain = "R-stats")
  if (startsWith(conditionMessage(w), sub("%s", "", words, fixed = TRUE))) tryInvokeRestart("muffleWarning")
})

# The value of `predict` of a fit.
ask <- function(entry, fit, newdata, options) {
  if (loses_offset(entry, fit, newdata)) {
    stop("`predict` of a ", class(fit)[1L], " leaves the offset out; write `offset(...)` in the formula of ",
         "glm, gam or lm", call. = FALSE)
  }
  rows <- list(quote(newdata))
  names(rows) <- if (is.null(entry$newdata)) "newdata" else entry$newdata
  if (!is.null(entry$complete)) newdata <- entry$complete(fit, newdata)
  env <- list2env(list(fit = fit, newdata = newdata), parent = globalenv())
  if (is.function(fit)) return(do.call(fit, c(list(quote(newdata)), options), envir = env))
  predicted <- function() do.call(stats::predict, c(list(quote(fit)), rows, options), envir = env)
  if (inherits(fit, "lm")) with_contrasts(predicted()) else predicted()
}

means_in <- function(value, n) if (is.numeric(value) && length(value) == n) as.double(value)

# By the names of its columns, if it has names.
probabilities_in <- function(value, classes, n) {
  if (!is.numeric(value)) return(NULL)
  if (length(dim(value)) == 3L) value <- matrix(value, n, dimnames = list(NULL, dimnames(value)[[2L]]))
  k <- length(classes)
  if (length(value) == n && k == 2L && NCOL(value) == 1L) {
    value <- as.double(value)  # of the second class
    return(cbind(1 - value, value, deparse.level = 0L))
  }
  if (is.null(dim(value)) && n == 1L && length(value) == k) value <- t(value)
  if (length(dim(value)) != 2L || nrow(value) != n) return(NULL)
  order <- if (is.null(colnames(value))) seq_len(k) else match(classes, colnames(value))
  if (anyNA(order) || ncol(value) != k) return(NULL)
  matrix(as.double(value[, order]), n, k)
}

# Why a value is not what was wanted, and what helps.
unusable <- function(value, fit, classes, n, learner) {
  method <- paste0("`predict` of a model of class ", class(fit)[1L])
  wanted <- if (is.null(classes)) " numbers, one per row" else {
    paste0(" rows of probabilities of ", length(classes), " classes, with their names or without")
  }
  given <- if (is.list(value)) c("a list of ", toString(names(value))) else {
    c(length(value), " values of type ", if (is.factor(value)) "factor" else typeof(value),
      if (length(colnames(value))) c(", named ", toString(utils::head(colnames(value), 5L))))
  }
  mend <- if (is.list(value)) {
    c("define ", "predict.", class(fit)[1L], " in R so that it gives the numbers alone")
  } else if (is.null(classes) && (is.factor(value) || is.character(value))) {
    if (learner) "pass `classifier=True`" else {
      "pass `classes`, and `predict_args` that ask for probabilities"
    }
  } else if (NCOL(value) > 1L && is.null(classes)) {
    "pass `predict_args` that choose one column, such as {'s': 0.1} for a glmnet"
  } else "pass `predict_args`"
  paste(c(method, " must give ", n, wanted, "; it gave ", given, ". To mend it, ", mend), collapse = "")
}

# Whether a function may be called with a formula: not if it has an `x` and no method for formulas.
takes_formula <- function(fun) {
  code <- parse(text = fun, keep.source = FALSE)[[1L]]
  f <- tryCatch(eval(code, globalenv()), error = function(e) NULL)  # the call itself says what fails
  if (!is.function(f)) return(TRUE)
  names <- names(formals(args(f)))
  method <- utils::getS3method(sub("^.*:", "", fun), "formula", optional = TRUE, envir = environment(f))
  "formula" %in% names || !"x" %in% names || is.function(method)
}

# Names of arguments as the function has them: `n_trees` for n.trees, if it has no `n_trees`.
argument_names <- function(fun, names) {
  f <- eval(parse(text = fun, keep.source = FALSE)[[1L]], globalenv())
  generic <- sub("^.*:", "", fun)
  methods <- lapply(c("default", "formula"), function(class) {
    utils::getS3method(generic, class, optional = TRUE, envir = environment(f))
  })
  found <- Filter(is.function, c(list(f), methods))
  known <- unique(unlist(lapply(found, function(m) names(formals(args(m))))))
  vapply(names, function(name) {
    dotted <- known[gsub(".", "_", known, fixed = TRUE) == name]
    if (name %in% known || length(dotted) != 1L) name else dotted
  }, "", USE.NAMES = FALSE)
}

# The fit as bytes and back.
to_bytes <- function(fit) serialize(fit, NULL, xdr = FALSE)
from_bytes <- function(bytes) unserialize(bytes)
