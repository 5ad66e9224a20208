"""Checks of Kafka's guarantees: a broker's own image, leases, and the nodes' logs and traces."""
