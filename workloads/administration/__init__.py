"""Workloads of a cluster's administration: access control, credentials, tokens and quotas."""
