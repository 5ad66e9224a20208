"""A Kafka server.properties as values: the keys that this node obeys, and listeners."""
