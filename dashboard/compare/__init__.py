"""The Compare page: settings, results so far, tables, sentences and what draws them."""
