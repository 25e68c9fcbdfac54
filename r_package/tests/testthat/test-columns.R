skip_without_python()
round_trip <- function(d) ours$py(ours$python()$bridge, "frame", ours$to_columns(d))

test_that("columns of nine kinds come back as they went", {
  d <- data.frame(double = c(1.5, NA), integer = c(1L, NA), logical = c(NA, TRUE), text = c(NA, "x"),
                  factor = factor(c("u", NA), c("v", "u")), o = factor(c("l", NA), c("l", "h"), ordered = TRUE),
                  date = as.Date(c("1600-02-29", NA)), a.time = as.POSIXct(c("2024-07-01 10:00:00.25", NA), tz = "UTC"),
                  there = as.POSIXct(c("2024-07-01 10:00", NA), tz = "Europe/Berlin"))
  expect_identical(round_trip(d), d)
  expect_identical(round_trip(d[1L, ]), d[1L, ])
  expect_identical(round_trip(d[0L, ]), d[0L, ])
  expect_error(ours$to_columns(data.frame(x = I(list(1)))), "`x` is of class AsIs")
})
test_that("a missing integer is no number", {
  d <- transform(rows, stations = replace(stations, c(3L, 50L), NA))
  for (learner in list(stats::lm, sklearn)) {
    fit <- learn(mag ~ depth + stations, d, learner, few(), 1)
    expect_equal(nobs(fit), nobs(stats::lm(mag ~ depth + stations, d)))
    again <- learn(mag ~ depth + stations, stats::na.omit(d), learner, few(), 1)
    expect_equal(coef(pfi(fit)), coef(pfi(again)), tolerance = 1e-12)
  }
  stops <- function(formula, data) stats::model.frame(formula, data, na.action = stats::na.fail)
  expect_error(learn(mag ~ stations, d, stops, few(), 1, options = list(missing = "keep")), "leave them out by options")
})
