"""The holes of the benchmarks that have one kind only: those of the paper's text."""

HOLES = {"pattern": "general", "mechanism": "MNAR", "coupling": "nested"}
