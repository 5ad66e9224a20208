"""Parse Kafka's server.properties: the supported keys, and listeners."""
