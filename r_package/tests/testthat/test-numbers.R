skip_without_python()
test_that("R and Python fit the same formula alike", {
  data <- rows[c("mag", "depth", "stations", "time.of.day", "zone")]
  f <- mag ~ poly(depth, 2) * zone + splines::ns(stations, 3) + log(time.of.day + 1)
  for (formula in list(f, log(mag) ~ ., mag ~ 0 + depth + zone)) {
    one <- pfi(learn(formula, data, stats::lm, few(), 1))
    arguments <- if (attr(stats::terms(formula, data = data), "intercept") == 0) list(fit_intercept = FALSE)
    two <- pfi(do.call(learn, c(list(formula, data, sklearn, few(), 1), arguments)))
    expect_equal(coef(one), coef(two), tolerance = 1e-9)
    expect_equal(vcov(one), vcov(two), tolerance = 1e-9)
  }
})
test_that("terms of a variable are left out with it", {
  f <- log(mag) ~ poly(depth, 2) * zone + splines::ns(stations, 3)
  one <- learn(f, rows, stats::lm, few(), 1)
  two <- learn(f, rows, sklearn, few(), 1)
  expect_equal(coef(loco(one)), coef(loco(two)), tolerance = 1e-9)
  expect_equal(coef(population(one)), coef(population(two)), tolerance = 1e-9)
  skip_if_not_installed("mgcv")
  smooth <- learn(log(mag) ~ s(depth) + te(stations, lat), rows, mgcv::gam, few(), 1)
  expect_named(coef(loco(smooth, "depth")), "depth")
  expect_error(loco(smooth, "lat"), "add one, such as s(stations)", fixed = TRUE)
})
test_that("contrasts of `C` are kept, and an `I` of a response is its value", {
  data <- transform(rows[c("mag", "depth", "zone")], zone = factor(zone), east = ifelse(zone == "west", 1, -1))
  for (learner in list(stats::lm, sklearn, "sklearn.linear_model.Ridge")) {
    f <- function(formula) pfi(expect_no_warning(learn(formula, data, learner, few(), 1)))
    expect_equal(unname(coef(f(mag ~ depth + C(zone, contr.sum)))), unname(coef(f(mag ~ depth + east))), tolerance = 1e-9)
    expect_equal(coef(f(I(mag^2) ~ depth)), coef(f(mag^2 ~ depth)))
  }
  strong <- function(formula) coef(pfi(learn(formula, rows, stats::glm, few(), 1)))
  expect_equal(strong(I(mag > 4.6) ~ depth), strong(mag > 4.6 ~ depth))
  expect_error(learn(mag ~ depth + time, rows, stats::lm), "no column time")  # a function of R
})
test_that("all pairs and means of R's models equal loops in R", {
  for (package in c("mgcv", "randomForest", "ranger", "rpart")) skip_if_not_installed(package)
  f <- mag ~ depth + zone + stations
  models <- list(stats::glm(f, data = rows), mgcv::gam(mag ~ s(depth) + zone + stations, data = rows),
                 ranger::ranger(f, rows, num.trees = 20, seed = 1), rpart::rpart(f, rows),
                 randomForest::randomForest(f, rows, ntree = 20))
  for (m in models) {
    values <- function(d) if (inherits(m, "ranger")) stats::predict(m, d)$predictions else stats::predict(m, d)
    fit <- of_model(m, rows, "mag")
    losses <- function(d) (rows$mag - as.double(values(d)))^2
    all_pairs <- sapply(c(depth = "depth", zone = "zone"), function(x) {
      others <- sapply(1:80, function(j) mean(losses(replace(rows, x, rows[rep(j, 80), x]))[-j]))
      mean(others) - mean(losses(rows))
    })
    expect_lt(max(abs(coef(pfi(fit, list("depth", "zone"), permutations = "all")) - all_pairs)), 1e-12)
    by_hand <- sapply(c(100, 300), function(x) mean(values(replace(rows, "depth", x))))
    expect_lt(max(abs(coef(pd(fit, "depth", grid = c(100, 300))) - by_hand)), 1e-12)
  }
  rows$strong <- rows$mag > 4.6
  m <- stats::glm(strong ~ depth, binomial, rows)
  by_hand <- c("depth[100]" = mean(stats::predict(m, replace(rows, "depth", 100), type = "response")))
  expect_equal(coef(pd(of_model(m, rows, "strong"), "depth", grid = list(100))), by_hand, tolerance = 1e-12)
})
test_that("effects of lm and glm have the standard errors of R's covariance", {
  rows$strong <- rows$mag > 4.6
  m <- stats::glm(strong ~ depth * zone, binomial, rows)
  at <- stats::model.matrix(~ depth * zone, transform(rows, depth = 300, zone = factor(zone)))
  by_hand <- colMeans(stats::make.link("logit")$mu.eta(as.vector(at %*% coef(m))) * at)
  curve <- pd(of_model(m, rows, "strong"), "depth", grid = list(300))
  expect_equal(tidy(curve)$std.error, sqrt(drop(by_hand %*% stats::vcov(m) %*% by_hand)), tolerance = 1e-7)
  m <- stats::lm(mag ~ depth * stations, rows)
  by_hand <- c(0, 1, 0, mean(rows$stations))
  slope <- measure(of_model(m, rows, "mag"), "ame", "depth")
  expect_equal(tidy(slope)$std.error, sqrt(drop(by_hand %*% stats::vcov(m) %*% by_hand)), tolerance = 1e-7)
  expect_equal(glance(slope)$df.residual, 76)
  one <- of_model(stats::lm(mag ~ 0 + depth, rows), rows, "mag")  # of one coefficient
  expect_gt(tidy(measure(one, "ame"))$std.error, 1e-6)
})
test_that("learners of classes answer by R's levels, and seeds are of the fit", {
  fit <- function() pfi(learn(Species ~ ., iris, "ranger::ranger", few(), 1, num.trees = 10))
  set.seed(3)
  one <- fit()
  drawn <- stats::runif(1)
  set.seed(4)
  expect_identical(coef(fit()), coef(one))
  set.seed(3)
  expect_identical(stats::runif(1), drawn)
  expect_gt(coef(one)[["Petal.Width"]], coef(one)[["Sepal.Width"]])
})
