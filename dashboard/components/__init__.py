"""Parts of pages that run in the browser: a folder each, with its script and its style."""
