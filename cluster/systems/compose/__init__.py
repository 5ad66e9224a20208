"""A Compose file as a system under test: its services are the nodes."""
