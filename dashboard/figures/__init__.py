"""Figure builders: data in, figure out."""
