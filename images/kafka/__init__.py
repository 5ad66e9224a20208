"""Provide releases of Apache Kafka, for systems under test, tests and measurements."""

from kraftproof.images.kafka.jars import ensure_jars
from kraftproof.images.kafka.releases import NEWEST, RELEASES

__all__ = ("NEWEST", "RELEASES", "ensure_jars")
