"""Execute a run on a cluster: the workload, the faults, the recorders and the run directory."""
