"""Checks of the replicas of partitions."""
