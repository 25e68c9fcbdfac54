test_that("no statistics are computed in R, and no names hide those of other packages", {
  used <- unlist(lapply(as.list(ours), function(f) if (is.function(f)) all.names(body(f))))
  expect_length(intersect(used, c("qt", "pt", "sd", "var", "mean", "qnorm", "quantile")), 0L)
  for (package in c("stats", "testthat", "ranger", "dplyr", "pdp", "vip", "mgcv", "rpart", "randomForest")) {
    others <- if (requireNamespace(package, quietly = TRUE)) getNamespaceExports(package)
    expect_length(setdiff(intersect(getNamespaceExports("pyinterpstats"), others), c("tidy", "glance")), 0L)
  }
})

skip_without_python()
test_that("tables have R's methods, also after saveRDS", {
  fit <- learn(mag ~ ., rows[c("mag", "depth", "stations")], stats::lm, few(), 1)
  for (table in list(pfi(fit), pd(fit, "depth", grid = 3), measure(fit, "ale", "depth"))) {
    limits <- tidy(table, conf.int = TRUE, conf.level = 0.9)[c("conf.low", "conf.high")]
    expect_equal(confint(table, level = 0.9), as.matrix(limits), ignore_attr = TRUE)
    expect_equal(sqrt(diag(vcov(table))), stats::setNames(tidy(table)$std.error, names(coef(table))))
    expect_true(all(sapply(c(tidy(table), glance(table)), is.atomic)))
    expect_identical(list(nobs(table), formula(table)), list(80L, mag ~ depth + stations), ignore_formula_env = TRUE)
  }
  expect_named(coef(pfi(update(fit, . ~ . - stations))), "depth")
  expect_equal(unname(coef(contrasts_of(pfi(fit), "depth = stations"))), -diff(unname(coef(pfi(fit)))))
  expect_equal(predict(fit, rows[1:2, ]), unname(predict(stats::lm(mag ~ depth + stations, rows), rows[1:2, ])), tolerance = 0.1)
  saveRDS(list(fit, pfi(fit)), file <- tempfile())
  kept <- readRDS(file)
  expect_output(print(kept[[2L]]), "Permutation feature importance")
  expect_equal(confint(kept[[2L]]), confint(pfi(fit)))
  expect_error(pfi(kept[[1L]]), "another session of R")
})
test_that("fits and tables are compared, and population has its columns by feature", {
  fit <- learn(mag ~ depth + zone, rows, stats::lm, few(), 1)
  small <- learn(mag ~ depth, rows, stats::lm, few(), 1)
  one <- coef(compare_fits(fit, small, names = c("a", "b")))
  expect_equal(one, c("a - b" = -unname(coef(compare_fits(small, fit)))))
  same <- learn(mag ~ depth + zone, rows, sklearn, few(), 1)
  expect_equal(coef(compare_fits(loco(fit), loco(same))), c(depth = 0, zone = 0), tolerance = 1e-9)
  table <- population(fit)
  frame <- as.data.frame(table)
  shown <- sprintf("%s +%.3f .* %.3f +%.3f\n", c("depth", "zone"), frame$r2_j, abs(frame$share_low), frame$p_relevant)
  for (line in shown) expect_match(table$text, line)
})
test_that("errors and warnings are conditions of Python's classes, with its sentences", {
  fit <- learn(mag ~ depth, rows, stats::lm, few(), 1)
  expect_error(pfi(fit, "depht"), "Did you mean `depth`?", class = "OptionError", fixed = TRUE)
  expect_error(measure(fit, "pfii"), "Did you mean `pfi`?", class = "PyinterpError", fixed = TRUE)
  expect_error(learn(mag ~ depht, rows, stats::lm), "no column depht")
  expect_error(learn(mag ~ depth, rows, stats::lm, weights = rows$mag), "`weights` has a value for each row")
  expect_error(learn(mag ~ depth, rows, function(formula, data) stop("no luck")), "no luck", class = "RefitError")
  expect_warning(learn(mag ~ depth, rows, function(formula, data) stats::lm(formula, data, none = 1), few(), 1),
                 "none", class = "RWarning")
})
test_that("an interrupt ends a fit, and the next call works", {
  skip_on_os("windows")
  slow <- function(formula, data) for (i in 1:1000) Sys.sleep(0.01)
  began <- Sys.time()
  system(sprintf("(sleep 1; kill -INT %d) &", Sys.getpid()))
  said <- tryCatch(learn(mag ~ depth, rows, slow, few(), 1), condition = function(c) paste(class(c), collapse = " "))
  expect_match(said, "interrupt|Rcpp::exception")  # the second before reticulate 1.46
  expect_lt(as.double(Sys.time() - began, units = "secs"), 3)
  expect_s3_class(learn(mag ~ depth, rows, stats::lm, few(), 1), "pyinterp_fit")
})
