"""The missingness that benchmarks simulate; nested, as in the masks released with the paper."""

MISSINGNESS = {"pattern": "general", "mechanism": "MNAR", "coupling": "nested"}
