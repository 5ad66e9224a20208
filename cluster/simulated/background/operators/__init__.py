"""Operators who change the settings of topics beside the workload."""
