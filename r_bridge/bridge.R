# Evaluated once, in an environment of its own, when R starts.

bridge <- environment()

# Text of a call, short enough for a message.
shown <- function(call) {
  if (is.null(call)) return("")
  text <- paste(trimws(deparse(call, width.cutoff = 500L, nlines = 5L)), collapse = " ")
  if (nchar(text) > 300L) paste0(substr(text, 1L, 300L), " ...") else text
}

is_code <- function(x) inherits(x, "pyinterp_code")

# What stands in a call for a value: R code as code, short values as themselves; all else by a name,
# so that calls in R's messages and in fitted models can be read.
as_argument <- function(x, name, env) {
  if (is_code(x)) return(expression_of(x))
  if (inherits(x, "formula")) return(x)  # which keeps its own environment
  if (is.list(x) && !is.object(x)) {
    inside <- lapply(seq_along(x), function(i) {
      as_argument(x[[i]], paste(c(name, names(x)[i]), collapse = "."), env)
    })
    names(inside) <- names(x)
    return(as.call(c(list(quote(list)), inside)))
  }
  if (is.null(x) || (is.atomic(x) && length(x) <= 1L && is.null(attributes(x)))) return(x)
  if (is.atomic(x) && length(x) <= 5L && is.null(attributes(x))) {
    return(as.call(c(list(quote(c)), as.list(x))))
  }
  name <- free_name(name, env)
  assign(name, x, envir = env)
  as.name(name)
}

# Code is text, or a list with an expression.
expression_of <- function(code) {
  if (is.character(code)) parse(text = unclass(code), keep.source = FALSE)[[1L]] else code[[1L]]
}

# The name itself unless it is taken: parts of lists may have equal names, or none.
free_name <- function(name, env) {
  every <- make.unique(c(ls(env, all.names = TRUE), name), "_")
  every[length(every)]
}

# Evaluate fun(args), `fun` being the bridge's own or any of R. Returns list(value) or NULL, what
# failed, the call, the warnings, and whether it was interrupted (in some waits R does not leave
# Ctrl-C to Python).
invoke <- function(fun, args, seed = NULL) {
  env <- new.env(parent = globalenv())
  warned <- list()
  failed <- NULL
  interrupted <- FALSE
  called <- fun
  value <- withCallingHandlers(
    tryCatch({
      names <- if (is.null(names(args))) character(length(args)) else names(args)
      given <- lapply(seq_along(args), function(i) {
        name <- if (nzchar(names[i])) names[i] else if (i == 1L) "object" else paste0("arg", i)
        as_argument(args[[i]], name, env)
      })
      names(given) <- names
      own <- get0(fun, bridge, mode = "function", inherits = FALSE)
      if (!is.null(own)) assign(fun, own, envir = env)
      call <- as.call(c(list(parse(text = fun, keep.source = FALSE)[[1L]]), given))
      called <- shown(call)
      list(with_seed(seed, function() eval(call, env)))
    }, error = function(e) {
      failed <<- list(conditionMessage(e), shown(conditionCall(e)))
      NULL
    }, interrupt = function(e) {
      interrupted <<- TRUE
      NULL
    }),
    warning = function(w) {
      warned[[length(warned) + 1L]] <<- c(conditionMessage(w), shown(conditionCall(w)))
      muffle <- computeRestarts(w)
      muffle <- Filter(function(r) r$name == "muffleWarning", muffle)
      if (length(muffle)) invokeRestart(muffle[[1L]])
    }
  )
  list(value, failed, called, warned, interrupted)
}

# Evaluate, and leave R's random numbers as they were.
keep_seed <- function(expression) {
  kept <- get0(".Random.seed", globalenv(), inherits = FALSE)
  kind <- RNGkind()
  on.exit(if (is.null(kept)) {
    RNGkind(kind[1L], kind[2L], kind[3L])
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", kept, envir = globalenv())
  })
  expression
}

# Evaluate with a seed of its own.
with_seed <- function(seed, expression) if (is.null(seed)) expression() else keep_seed({
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  expression()
})

# A function of R that calls one of Python; `python` returns list(value), or list() if that failed.
guarded <- function(python, arguments) {
  f <- function() NULL
  formals(f) <- as.pairlist(stats::setNames(
    rep(list(quote(expr = )), length(arguments)), arguments
  ))
  body(f) <- substitute({
    value <- CALL
    if (!length(value)) stop("a function of Python failed", call. = FALSE)
    value[[1L]]
  }, list(CALL = as.call(c(list(python), lapply(arguments, as.name)))))
  environment(f) <- baseenv()
  f
}

# A model of Python: `python` is a function of a data frame.
model_of <- function(python, classes) {
  structure(list(python = python, classes = classes), class = "pyinterp_model")
}

predict.pyinterp_model <- function(object, newdata, type = NULL, ...) {
  value <- keep_seed(object$python(as.data.frame(newdata)))  # ranger's predictions draw too
  if (is.null(object$classes)) return(value)
  value <- matrix(value, ncol = length(object$classes), dimnames = list(NULL, object$classes))
  if (!identical(type, "class")) return(value)
  factor(object$classes[max.col(value, ties.method = "first")], levels = object$classes)
}
registerS3method("predict", "pyinterp_model", predict.pyinterp_model, envir = asNamespace("stats"))

print.pyinterp_model <- function(x, ...) cat("<a model of Python>\n")
registerS3method("print", "pyinterp_model", print.pyinterp_model, envir = baseenv())

# Columns: what R has beyond numbers.
factor_of <- function(codes, levels, ordered) {
  structure(codes, levels = levels, class = if (ordered) c("ordered", "factor") else "factor")
}

frame_of <- function(columns, rows) {
  structure(columns, class = "data.frame", row.names = .set_row_names(rows))
}

code_of <- function(text) structure(text, class = "pyinterp_code")

# The version of a package, loaded: c(version, ""). Else why not: c("absent", "") if it is in no
# library, c("broken", R's reason) if it can't be loaded.
package_version <- function(package) {
  if (!nzchar(system.file(package = package))) return(c("absent", ""))
  tryCatch({
    suppressPackageStartupMessages(suppressWarnings(loadNamespace(package)))
    c(as.character(getNamespaceVersion(package)), "")
  }, error = function(e) c("broken", conditionMessage(e)))
}
