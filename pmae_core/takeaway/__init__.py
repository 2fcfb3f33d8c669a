"""What users take away: the filled table, how it was made, and words for their paper."""
