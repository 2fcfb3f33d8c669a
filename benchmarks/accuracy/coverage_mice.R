# Impute a table with mice and write all imputations below each other.
#
#   Rscript coverage_mice.R incomplete.csv imputed.csv <m> <rounds> <pmm or norm> <seed>

suppressPackageStartupMessages(library(mice))

arguments <- commandArgs(trailingOnly = TRUE)
table <- read.csv(arguments[1], stringsAsFactors = TRUE, na.strings = "")
# Numbers by the method asked for, two categories by logistic regression, more by multinomial.
methods <- c(arguments[5], "logreg", "polyreg", "polr")
imputed <- mice(
  table,
  m = as.integer(arguments[3]),
  maxit = as.integer(arguments[4]),
  defaultMethod = methods,
  seed = as.integer(arguments[6]),
  printFlag = FALSE
)
write.csv(complete(imputed, "long"), arguments[2], row.names = FALSE)
