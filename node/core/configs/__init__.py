"""Configurations of topics: their names, types, ranges and defaults, as Kafka defines them."""
