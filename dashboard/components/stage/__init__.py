"""A stage: a picture in several states, between which the browser animates."""
