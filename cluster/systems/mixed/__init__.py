"""Nodes of ours and of Apache Kafka in one cluster, as one system under test."""
