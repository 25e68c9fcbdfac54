library(testthat)
library(pyinterpstats)
test_check("pyinterpstats")
