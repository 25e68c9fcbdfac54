# Friedman and Popescu's H: ratios of sums of squares of centered partial dependences at the rows.

hstats <- function(object, X, v = NULL, pairwise_m = 5L, threeway_m = 0L, approx = FALSE,
                   grid_size = 50L, n_max = 500L, eps = 1e-10, w = NULL, verbose = FALSE) {
  every <- if (is.null(v)) names(X) else v
  centered <- function(p) sweep(p, 2L, colMeans(p))
  values <- function(rows) as.matrix(stats::predict(object, newdata = rows))
  dependence <- function(names) {
    centered(do.call(rbind, lapply(seq_len(nrow(X)), function(i) {
      rows <- X
      for (name in names) rows[[name]] <- rep(X[[name]][i], nrow(X))
      colMeans(values(rows))
    })))
  }
  f <- centered(values(X))
  single <- sapply(every, dependence, simplify = FALSE)
  rest <- sapply(every, function(j) dependence(setdiff(names(X), j)), simplify = FALSE)
  overall <- ratio(sapply(every, function(j) f - single[[j]] - rest[[j]], simplify = FALSE), f)
  strongest <- function(m) {
    first <- order(rowSums(overall$above), decreasing = TRUE)[seq_len(min(m, length(every)))]
    every[sort(first)]
  }
  sets <- function(m, k) {
    if (m < k || length(every) < k) return(list())
    found <- utils::combn(strongest(m), k, simplify = FALSE)
    stats::setNames(found, vapply(found, paste, "", collapse = ":"))
  }
  pairs <- lapply(sets(pairwise_m, 2L), function(s) {
    list(all = dependence(s), less = single[[s[1L]]] + single[[s[2L]]])
  })
  triples <- lapply(sets(threeway_m, 3L), function(s) {
    two <- Reduce(`+`, utils::combn(s, 2L, dependence, simplify = FALSE))
    list(all = dependence(s), less = two - Reduce(`+`, single[s]))
  })
  difference <- function(parts) lapply(parts, function(part) part$all - part$less)
  list(
    eps = eps,
    h2 = if (setequal(every, names(X))) ratio(list(f - Reduce(`+`, single)), f),
    h2_overall = overall,
    h2_pairwise = ratio(difference(pairs), lapply(pairs, `[[`, "all")),
    h2_threeway = ratio(difference(triples), lapply(triples, `[[`, "all")),
    pd_importance = ratio(lapply(rest, function(other) f - other), f)
  )
}

# Mean squares above and below, a row per term and a column per class.
ratio <- function(above, below) {
  if (!length(above)) return(NULL)
  squares <- function(parts) do.call(rbind, lapply(parts, function(p) colMeans(p^2)))
  top <- squares(above)
  bottom <- if (is.list(below)) squares(below) else squares(rep(list(below), length(above)))
  list(above = top, below = bottom)
}

statistic <- function(name) {
  function(object, normalize = TRUE, squared = TRUE) {
    parts <- object[[name]]
    if (is.null(parts)) return(list(M = NULL))
    value <- ifelse(parts$above > object$eps, parts$above, 0)
    if (normalize) value <- ifelse(value > 0, value / parts$below, 0)
    rownames(value) <- rownames(parts$above)
    list(M = if (squared) value else sqrt(value))
  }
}
h2 <- statistic("h2")
h2_overall <- statistic("h2_overall")
h2_pairwise <- statistic("h2_pairwise")
h2_threeway <- statistic("h2_threeway")
pd_importance <- statistic("pd_importance")
