"""Define the configurations of topics: names, types, ranges and defaults of Kafka."""
