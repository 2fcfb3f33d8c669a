"""The Export page: files of an imputed table."""
