skip_without_python <- function() skip_if_not(reticulate::py_module_available("r_bridge.from_r"), "Python with it")
ours <- asNamespace("pyinterpstats")
rows <- transform(datasets::quakes[1:80, ], zone = factor(ifelse(long > 180, "east", "west"), c("west", "east", "none")))
rows$time.of.day <- rows$stations %% 24
few <- function() half_sampling(5, pairs = 5)
sklearn <- "sklearn.linear_model.LinearRegression"
