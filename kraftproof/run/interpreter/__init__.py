"""Interpret a workload and a schedule of faults on a cluster, and record both."""
