# Fits regressions to fixed imputations with R and pools them with mice; prints figures as JSON.
# Usage: Rscript fit.R imputations.csv
suppressPackageStartupMessages({
  library(mice)
  library(survival)
  library(sandwich)
  library(jsonlite)
})

long <- read.csv(commandArgs(trailingOnly = TRUE)[1], stringsAsFactors = TRUE)
tables <- split(long, long$imputation)

# The figures are to agree in six digits; by default R stops earlier.
precise <- glm.control(epsilon = 1e-14, maxit = 100)

fit_all <- function(fit) as.mira(lapply(tables, fit))

coefficients <- function(fits) {
  pooled <- summary(pool(fits), type = "all", conf.int = TRUE)
  data.frame(
    term = as.character(pooled$term), estimate = pooled$estimate, std_error = pooled$std.error,
    statistic = pooled$statistic, df = pooled$df, p_value = pooled$p.value,
    low = pooled$`2.5 %`, high = pooled$`97.5 %`, missing_information = pooled$fmi,
    relative_increase = pooled$riv
  )
}

test <- function(full, without) {
  result <- D1(full, without)$result
  list(
    statistic = result[1, 1], df1 = result[1, 2], df2 = result[1, 3], p_value = result[1, 4],
    relative_increase = result[1, 5]
  )
}

# Pools what mice does not: other standard errors, and predictions.
pool_by_hand <- function(estimates, variances, df_complete) {
  estimates <- rbind(estimates)
  rows <- lapply(seq_len(ncol(estimates)), function(j) {
    one <- pool.scalar(estimates[, j], variances[, j], n = df_complete + 1, k = 1)
    data.frame(term = colnames(estimates)[j], estimate = one$qbar, std_error = sqrt(one$t), df = one$df)
  })
  do.call(rbind, rows)
}

with_errors <- function(fits, covariance, df_complete) {
  pool_by_hand(
    t(sapply(fits$analyses, coef)),
    t(sapply(fits$analyses, function(fit) diag(covariance(fit)))),
    df_complete
  )
}

ols <- fit_all(function(d) lm(y ~ x * sex + kind, d))
logistic <- fit_all(function(d) glm(died ~ x + age + kind, binomial, d, control = precise))
counts <- fit_all(function(d) glm(visits ~ x + log(age) + sex, poisson, d, control = precise))
cox <- fit_all(function(d) coxph(Surv(time, event) ~ x + kind + age, d, ties = "efron"))
n <- nrow(tables[[1]])
clusters <- tables[[1]]$town

predicted <- function(fits, rows, ...) {
  found <- lapply(fits$analyses, predict, newdata = rows, se.fit = TRUE, ...)
  estimates <- t(sapply(found, function(one) one$fit))
  errors <- t(sapply(found, function(one) one$se.fit))
  colnames(estimates) <- paste0("row", seq_len(ncol(estimates)))
  pool_by_hand(estimates, errors^2, fits$analyses[[1]]$df.residual)
}
rows <- head(tables[[1]], 4)

figures <- list(
  versions = list(
    R = paste(R.version$major, R.version$minor, sep = "."),
    mice = as.character(packageVersion("mice")),
    mitml = as.character(packageVersion("mitml")),
    survival = as.character(packageVersion("survival")),
    sandwich = as.character(packageVersion("sandwich"))
  ),
  coefficients = list(
    ols = coefficients(ols),
    ols_weighted = coefficients(fit_all(function(d) lm(y ~ x + kind, d, weights = weight))),
    ols_without_intercept = coefficients(fit_all(function(d) lm(y ~ 0 + kind + sex + x:kind, d))),
    ols_crossed = coefficients(fit_all(function(d) lm(log(age) ~ (x + kind + sex)^2, d))),
    ols_separate_slopes = coefficients(fit_all(function(d) lm(y ~ x:sex + I(age^2 / 100), d))),
    logistic = coefficients(logistic),
    poisson = coefficients(counts),
    cox = coefficients(cox),
    cox_ties = coefficients(fit_all(
      function(d) coxph(Surv(ceiling(time), event) ~ x * sex, d, ties = "efron", weights = weight,
                        robust = FALSE)
    ))
  ),
  errors = c(
    sapply(c("HC0", "HC1", "HC2", "HC3"), function(type) {
      list(with_errors(ols, function(fit) vcovHC(fit, type = type), n - 6))
    }),
    list(
      cluster = with_errors(
        ols, function(fit) vcovCL(fit, cluster = clusters, type = "HC1"),
        length(unique(clusters)) - 1
      ),
      logistic_HC3 = with_errors(logistic, function(fit) vcovHC(fit, type = "HC3"), n - 5),
      logistic_cluster = with_errors(
        logistic, function(fit) vcovCL(fit, cluster = clusters, type = "HC1"),
        length(unique(clusters)) - 1
      ),
      poisson_HC2 = with_errors(counts, function(fit) vcovHC(fit, type = "HC2"), n - 4)
    )
  ),
  tests = list(
    ols_kind = test(ols, fit_all(function(d) lm(y ~ x * sex, d))),
    ols_kind_and_interaction = test(ols, fit_all(function(d) lm(y ~ x + sex, d))),
    logistic_kind = test(logistic, fit_all(function(d) glm(died ~ x + age, binomial, d, control = precise))),
    poisson_x_and_sex = test(counts, fit_all(function(d) glm(visits ~ log(age), poisson, d, control = precise))),
    cox_kind = test(cox, fit_all(function(d) coxph(Surv(time, event) ~ x + age, d)))
  ),
  predictions = list(
    ols = predicted(ols, rows),
    logistic = predicted(logistic, rows, type = "link"),
    poisson = predicted(counts, rows, type = "link")
  )
)
cat(toJSON(figures, digits = NA, auto_unbox = TRUE, pretty = TRUE))
