# Tables of a file of pyinterp in R: Rscript read_file.R pd.pyinterp pfi.pyinterp
library(jsonlite)
npy <- function(path) {
  con <- file(path, "rb")
  on.exit(close(con))
  n <- readBin(con, "integer", 5, 2, signed = FALSE, endian = "little")[5]
  head <- readChar(con, n)
  shape <- as.numeric(strsplit(sub(".*\\(([^)]*)\\).*", "\\1", head), ",")[[1]])
  type <- if (grepl("<f8", head)) "double" else "integer"
  x <- readBin(con, type, prod(shape), as.integer(sub(".*<[fi]([48]).*", "\\1", head)))
  if (length(shape) == 1) x else matrix(x, shape[1], shape[2], byrow = grepl("False", head))
}
table_of <- function(path) {
  unzip(path, exdir = folder <- tempfile())
  results <- read_json(file.path(folder, "manifest.json"))$results
  array <- function(x) npy(file.path(folder, paste0(x$array, ".npy")))
  rep <- results$replicates
  about <- results$estimand$parameter
  chances <- setequal(unlist(about$range), 0:1)              # probabilities, accuracies
  if (!is.null(results$p_adjust) || results$simultaneous) {
    stop("read_file.R reads tables without p_adjust and simultaneous; save these without them")
  }
  stopifnot(
    results$variance$cov_type == "half-sample", !is.null(rep$sums$halves),
    results$alternative == "two-sided",
    if (chances) is.null(about$null) && is.null(rep$no_effect) else
      setequal(unlist(about$range), c("-inf", "inf")))
  values <- array(rep$sums$values)
  pair <- sapply(rep$evaluations$groups, function(g) if (is.null(g)) NA else g$number)
  halves <- order(pair, na.last = NA)
  M <- length(halves) / 2
  mine <- values[is.na(pair), , drop = FALSE]
  m <- nrow(mine)
  stopifnot(m > 1)                                         # HalfSampling(0) has pairs alone
  # D: what training does, less what evaluating does
  member <- sapply(rep$evaluations$at[halves], function(at)
    tabulate(array(at) + 1, length(array(rep$evaluations$rows))))
  T <- sweep(values[halves, , drop = FALSE], 2, values[halves[1], ])
  shared <- diag(colSums(member)) - crossprod(member, member / rowSums(member))
  right <- colSums(member) * T - crossprod(member, array(rep$sums$halves) / rowSums(member))
  signed <- 2 * solve(shared + 1, right) - T
  first <- 2 * seq_len(M) - 1
  A <- colMeans((signed[first, , drop = FALSE] - signed[first + 1, , drop = FALSE])^2) / 4
  S <- apply((T[first, , drop = FALSE] + T[first + 1, , drop = FALSE]) / 2, 2, var)
  s2_m <- apply(mine, 2, var) / m
  c <- colMeans(mine)
  q <- qt(.975, M)
  names <- unlist(results$estimand$terms$names)
  if (is.null(rep$no_effect)) {                            # PD: estimate -/+ t std err, of logits
    se <- sqrt(A + s2_m)
    p <- if (chances) ifelse(c > 0 & c < 1, c, NA) else c + NA
    limit <- function(q) ifelse(is.na(p), c + q * se, plogis(qlogis(p) + q * se / (p * (1 - p))))
    return(data.frame(term = names, estimate = c, std_error = se, low = limit(-q), high = limit(q)))
  }
  fit <- rep$half_refits[[1]]                                # PFI: the hull of two intervals
  signal <- array(fit$estimating)[, 1]
  half <- array(fit$halves)[, 1]
  error <- sqrt(var(signal) / m + var(half) / length(half))
  g <- if (mean(signal) - mean(half) <= error) 1 else min(max(mean(signal) / mean(half), 1), 1.5)
  V <- g^2 * pmax(A - S / 2, S) + s2_m
  v0 <- sqrt(pmin(.632 / .5 * (g * fit$mean_share)^2 * S + s2_m, V))
  a <- V / 2 / (sqrt(pmax(c, 0)^2 + V / 2) + pmax(c, 0))
  s0 <- ifelse(c > 0, pmax(v0, c / sqrt(1 + pmax(c, 0) / a)), pmin(pmax(-c, v0), sqrt(V)))
  low <- ifelse(c > 0, pmin(pmax(sqrt(pmax(c + a, 0)) - q * sqrt(a), 0)^2, c - q * s0), c - q * s0)
  high <- ifelse(c + q * s0 < 0, c + q * s0, (sqrt(pmax(c + a, 0)) + q * sqrt(a))^2)
  data.frame(term = names, estimate = c, std_error = sqrt(V), low, high, p = 2 * pt(-abs(c / s0), M))
}
for (path in commandArgs(TRUE)) write.csv(format(table_of(path), digits = 15), row.names = FALSE)
