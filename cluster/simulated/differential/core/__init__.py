"""Compare tables and defaults of the core with those of Kafka."""
