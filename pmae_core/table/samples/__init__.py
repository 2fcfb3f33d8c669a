"""Tables to try things with: bundled samples and the benchmark tables of the paper."""
