"""A history as Kraftproof keeps it: operations, columns and tables; readers of other formats."""
