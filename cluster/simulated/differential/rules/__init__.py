"""Compare rules without state of a cluster with references: quotas, configurations, batches."""
