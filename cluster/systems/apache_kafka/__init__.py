"""Apache Kafka as a system under test: its nodes, clients, errors and declared guarantees."""
