"""Workloads about the replicas of partitions, beside produce and consume."""
