# Formulas and expressions. Only what a user wrote as code is parsed, one expression of it; names
# arrive as strings and become symbols. Evaluated after bridge.R, in its environment.

# An expression with its symbols `from` replaced by `to`; names of functions and of elements stay.
translated <- function(code, from, to) {
  if (is.symbol(code)) {
    word <- to[match(as.character(code), from)]
    return(if (is.na(word)) code else as.name(word))
  }
  if (!is.call(code)) return(code)
  places <- seq_along(code)
  if (is.symbol(code[[1L]])) places <- places[-1L]  # the function's name
  if (as.character(code[[1L]])[1L] %in% c("$", "@", "::", ":::")) places <- places[1L]
  for (i in places) {
    if (!identical(code[[i]], quote(expr = ))) {
      part <- translated(code[[i]], from, to)
      if (!is.null(part)) code[[i]] <- part
    }
  }
  code
}

# What is left of "~": "a name", which; "nothing"; or why it can't be a learner's formula.
response_in <- function(text) {
  code <- str2lang(text)
  if (!is.call(code) || !identical(code[[1L]], as.name("~"))) return("no formula")
  if (length(code) == 2L) return("nothing")
  if (is.symbol(code[[2L]])) c("a name", as.character(code[[2L]])) else "no name"
}

# The formula of a model: the user's own with R's words for the names in it, or the response on the
# sum of all variables.
model_formula <- function(text, response, words, from, to) {
  right <- if (is.null(text)) Reduce(function(a, b) call("+", a, b), lapply(words, as.name)) else {
    code <- str2lang(text)
    translated(code[[length(code)]], from, to)
  }
  formula <- call("~", as.name(response), right)
  structure(formula, class = "formula", .Environment = globalenv())
}

# The terms of a sum, in which "." is a name; and the variables of its terms and offsets.
terms_in <- function(code) stats::terms(stats::as.formula(call("~", code)), allowDotAsName = TRUE)
used_in <- function(code) {
  terms <- terms_in(code)
  offsets <- as.list(attr(terms, "variables"))[1L + attr(terms, "offset")]
  all.vars(as.expression(c(lapply(attr(terms, "term.labels"), str2lang), offsets)))
}

# A sum without the terms of variables; NULL if none is left. Parts without these variables stay as
# they are written, "-1" and offsets too.
without <- function(code, absent) {
  if (!any(all.vars(code) %in% absent)) return(code)
  if (is.call(code) && as.character(code[[1L]])[1L] %in% c("+", "-", "(")) {
    parts <- lapply(as.list(code)[-1L], without, absent)
    last <- parts[[length(parts)]]
    if (is.null(last)) return(if (length(parts) == 2L) parts[[1L]])
    if (is.null(parts[[1L]]) && identical(code[[1L]], as.name("+"))) return(last)
    return(as.call(c(code[[1L]], Filter(Negate(is.null), parts))))
  }
  kept <- Filter(function(term) !any(all.vars(term) %in% absent), lapply(attr(terms_in(code), "term.labels"), str2lang))
  sum <- Reduce(function(a, b) call("+", a, b), kept)
  if (length(kept) > 1L) call("(", sum) else sum
}

# A formula without the terms of variables that are absent. It must not lose variables that are there.
formula_without <- function(formula, absent, there) {
  if (!length(absent)) return(formula)
  k <- length(formula)
  right <- formula[[k]]
  left <- without(right, absent)
  formula[[k]] <- if (is.null(left)) 1 else left
  after <- used_in(formula[[k]])
  lost <- if (!"." %in% after) setdiff(intersect(used_in(right), there), after)
  if (length(lost)) {
    stop("The formula must have terms of `", lost[1L], "` alone where ", toString(sprintf("`%s`", absent)),
         " is left out: add one, such as s(", lost[1L], ") or ", lost[1L], ".", call. = FALSE)
  }
  formula
}
text_without <- function(text, absent, there) deparse1(formula_without(str2lang(text), absent, there))

# Variables of an expression, as the user wrote them.
variables_in <- function(text) all.vars(str2lang(text))

# An argument's code in R's words.
translated_code <- function(text, from, to) {
  structure(list(translated(str2lang(text), from, to)), class = "pyinterp_code")
}

# Variables of an expression that are no columns, but vectors of R with one value for each of n rows.
vectors_beside <- function(text, columns, n) {
  beside <- setdiff(all.vars(str2lang(text)), columns)
  Filter(function(name) {
    value <- get0(name, globalenv())
    !is.null(value) && !is.function(value) && !is.environment(value) && NROW(value) == n
  }, beside)
}
