"""Compare the times, the limits and the rights of a controller's answers with plain rules."""
