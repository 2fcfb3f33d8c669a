"""The Data page: uploads, columns, what the table is like."""
