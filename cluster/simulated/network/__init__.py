"""Connections between simulated processes, and the faults of their links."""
