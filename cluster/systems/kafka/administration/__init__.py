"""Clients of administration in Kafka's protocol: replicas and configurations."""
