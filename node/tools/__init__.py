"""Provide command-line tools for a node's files, named and behaving like Kafka's tools."""
