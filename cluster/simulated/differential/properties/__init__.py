"""Compare the reading of server.properties with what docs/configuration.md and the KIPs say."""
