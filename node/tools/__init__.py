"""Command-line tools around a node's files, named and behaving as Kafka's."""
