"""What the checkers know of Kafka: a broker's own image, leases, and the nodes' logs and traces."""
