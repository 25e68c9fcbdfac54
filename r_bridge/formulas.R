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
