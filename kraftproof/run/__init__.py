"""Runs one test on one cluster: the workload, the faults, the recorders and the run directory."""
