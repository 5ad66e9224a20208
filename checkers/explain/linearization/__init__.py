"""The longest linearization before the first illegal operation."""
