# Impute one table with R's package mice.
#
#   Rscript impute.R FOLDER SEED IMPUTATIONS CATEGORICAL ROUNDS NUMBERS
#
# CATEGORICAL are the names of columns with codes of categories, joined by commas; NUMBERS is how
# numbers are imputed, pmm or norm. See benchmarks/exchange.py for what is in the folder; all
# imputations are written one below the other.

suppressPackageStartupMessages(library(mice))

peak_megabytes <- function() {
  # Only Linux has this file.
  if (!file.exists("/proc/self/status")) return("null")
  peak <- grep("^VmHWM:", readLines("/proc/self/status"), value = TRUE)
  round(as.numeric(gsub("[^0-9]", "", peak)) / 1024, 1)
}

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
table <- read.csv(file.path(folder, "table.csv"))
for (name in strsplit(arguments[4], ",")[[1]]) table[[name]] <- factor(table[[name]])
libraries_megabytes <- peak_megabytes()
started <- proc.time()
imputed <- mice(
  table,
  m = as.integer(arguments[3]),
  maxit = as.integer(arguments[5]),
  # Numbers as asked for, two categories by logistic regression, more by multinomial.
  defaultMethod = c(arguments[6], "logreg", "polyreg", "polr"),
  seed = as.integer(arguments[2]),
  printFlag = FALSE
)
together <- complete(imputed, "long")[names(table)]
spent <- proc.time() - started
write.csv(together, file.path(folder, "imputed.csv"), row.names = FALSE, na = "")
writeLines(
  sprintf(
    paste0(
      '{"libraries_megabytes": %s, "seconds": %.2f, "cpu_seconds": %.2f, "peak_megabytes": %s, ',
      '"versions": {"R": "%s", "mice": "%s"}}'
    ),
    libraries_megabytes, spent["elapsed"], sum(spent[-3]), peak_megabytes(),
    paste(R.version$major, R.version$minor, sep = "."), packageVersion("mice")
  ),
  file.path(folder, "cost.json")
)
