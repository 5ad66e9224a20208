"""Try generated edits of the node against the comparisons alone, without any run of a cluster."""
