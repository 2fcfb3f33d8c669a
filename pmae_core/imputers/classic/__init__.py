"""Statistical and tree-based methods, one file per method."""
