"""The holes of the benchmarks that have one kind only; nested like the masks that were released."""

HOLES = {"pattern": "general", "mechanism": "MNAR", "coupling": "nested"}
