"""Compare the decisions of a controller, and their times, limits and rights, with plain rules."""
