"""Load beside the workload: more topics, and requests of foreign clusters and old epochs."""
