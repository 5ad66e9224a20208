"""Apache Kafka 4.3.0, the real one, beside which our node is measured and tested."""

from kraftproof.images.kafka.jars import ensure_jars

__all__ = ("ensure_jars",)
