# Fitted models of R: what they predict, from what, and how they are asked. One entry per class of
# fit; evaluated after bridge.R, in its environment.
#
# package      whose `predict` method it is
# classes      names of the classes, in R's order; NULL for a regression
# variables    names of the variables
# levels       levels of the factors among them, by name
# mean         arguments of `predict` for means
# probability  arguments of `predict` for class probabilities
# newdata      name of the argument for new rows
# take         where in the value of `predict` the numbers are
# event_first  whether R's pdp, asked about the fit itself, has the second of two classes, the event,
#              as its first (its columns are p and 1 - p: where R predicts one probability)

terms_of <- function(fit) all.vars(stats::delete.response(stats::terms(fit)))
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
    mean = list(), probability = list(type = "prob")
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
    take = function(value) value$predictions
  ),
  rpart = list(
    package = "rpart",
    classes = function(fit) if (fit$method == "class") attr(fit, "ylevels"),
    variables = terms_of,
    levels = function(fit) attr(fit, "xlevels"),
    mean = list(type = "vector"), probability = list(type = "prob")
  ),
  gbm = list(
    package = "gbm",
    classes = function(fit) {
      switch(fit$distribution$name,
             bernoulli = , adaboost = , huberized = c("0", "1"), multinomial = fit$classes)
    },
    variables = function(fit) fit$var.names,
    levels = function(fit) stats::setNames(fit$var.levels, fit$var.names),
    mean = response, probability = response,
    more = function(fit) list(n.trees = fit$n.trees),
    event_first = function(fit) fit$distribution$name != "multinomial"
  ),
  multinom = list(
    package = "nnet", classes = lev_of, variables = terms_of,
    levels = function(fit) fit$xlevels, mean = list(), probability = list(type = "probs"),
    event_first = function(fit) length(fit$lev) == 2L
  ),
  nnet = list(
    package = "nnet", classes = lev_of,
    variables = function(fit) if (is.null(fit$terms)) NULL else terms_of(fit),
    levels = function(fit) fit$xlevels, mean = list(type = "raw"), probability = list(type = "raw"),
    event_first = function(fit) fit$n[length(fit$n)] == 1L  # one output
  ),
  gam = list(
    package = "mgcv", classes = binomial_classes,
    variables = function(fit) fit$pred.formula[[2L]] |> all.vars(),
    levels = function(fit) fit$xlevels, mean = response, probability = response,
    event_first = always
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

# Of a class that is not listed: what most packages do.
other <- list(
  package = NULL, classes = function(fit) NULL,
  variables = function(fit) tryCatch(terms_of(fit), error = function(e) NULL),
  levels = function(fit) if (is.list(fit)) fit$xlevels,
  mean = response, probability = response,
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

describe_fit <- function(fit) {
  entry <- entry_of(fit)
  levels <- Filter(is.character, as.list(entry$levels(fit)))
  list(
    class = class(fit),
    classes = entry$classes(fit),
    variables = as.character(entry$variables(fit)),
    level_names = as.character(names(levels)),
    levels = unname(levels)
  )
}

# Predictions: a vector of means, or a matrix of probabilities with columns as `classes`.
predict_fit <- function(fit, newdata, classes = NULL, options = NULL) {
  entry <- entry_of(fit)
  if (is.null(options)) {
    options <- if (is.null(classes)) entry$mean else entry$probability
    if (!is.null(entry$more)) options <- c(options, entry$more(fit))
  }
  rows <- list(newdata)
  names(rows) <- if (is.null(entry$newdata)) "newdata" else entry$newdata
  predicted <- function() do.call(stats::predict, c(list(quote(fit)), rows, options))
  value <- if (!identical(entry, other)) predicted() else tryCatch(predicted(), error = function(e) {
    stop("`predict` of a model of class ", paste(class(fit), collapse = "/"), " failed with ",
         shown(as.call(c(quote(list), options))), ": ", conditionMessage(e),
         "; pass its arguments as `predict_args`", call. = FALSE)
  })
  if (!is.null(entry$take)) value <- entry$take(value)
  if (is.null(classes)) return(means_in(value, nrow(newdata), class(fit)))
  probabilities_in(value, classes, nrow(newdata), class(fit))
}

means_in <- function(value, n, class) {
  if (is.data.frame(value)) value <- as.matrix(value)
  if (!is.numeric(value) || length(value) != n) {
    stop("`predict` of a model of class ", paste(class, collapse = "/"), " must give ", n,
         " numbers, one per row; it gave ", length(value), " of type ", typeof(value),
         if (is.factor(value)) " (a factor): pass `classifier=True`" else
           "; pass `predict_args`", call. = FALSE)
  }
  as.double(value)
}

probabilities_in <- function(value, classes, n, class) {
  if (is.data.frame(value)) value <- as.matrix(value)
  if (length(dim(value)) == 3L) value <- matrix(value, n, dimnames = list(NULL, dimnames(value)[[2L]]))
  k <- length(classes)
  if (is.numeric(value) && length(value) == n && k == 2L && NCOL(value) == 1L) {
    value <- as.double(value)  # of the second class
    return(cbind(1 - value, value, deparse.level = 0L))
  }
  if (is.null(dim(value)) && n == 1L && length(value) == k) value <- t(value)
  named <- colnames(value)
  if (!is.null(named) && all(classes %in% named)) value <- value[, classes, drop = FALSE]
  if (!is.numeric(value) || !identical(dim(value), c(n, k))) {
    stop("`predict` of a model of class ", paste(class, collapse = "/"), " must give a probability ",
         "for each of ", n, " rows and ", k, " classes; it gave ", length(value), " values of type ",
         typeof(value), "; pass `predict_args`", call. = FALSE)
  }
  matrix(as.double(value), n, k)
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
