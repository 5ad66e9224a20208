"""Provide Apache Kafka 4.3.0, for tests and measurements beside the reference node."""

from kraftproof.images.kafka.jars import ensure_jars

__all__ = ("ensure_jars",)
