"""The general engine: a search over the states of any sequential model."""
