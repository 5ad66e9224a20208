"""Compute an order-independent digest of an image: the sum of its entities' hashes.

A change subtracts the hash of the old entity and adds the hash of the new entity, so the cost does
not depend on the size of the image. Two images with equal digests hold equal entities, except with
a probability of 1 in 2**128. The digest is no protection against forgery.
"""

from collections.abc import Iterator
from hashlib import blake2b

from msgspec import Struct, msgpack

from kraftproof.node.core.metadata.image import MetadataImage

_MODULUS = 1 << 128
_encode = msgpack.Encoder().encode

Entity = tuple[str, object]
"""The kind and the entity; key and value for an entity without a name."""


def entity_hash(kind: str, entity: object) -> int:
    """Return the 128-bit hash of an entity's canonical bytes."""
    return int.from_bytes(blake2b(_encode((kind, entity)), digest_size=16).digest(), "big")


def update_digest(digest: int, kind: str, was: object | None, now: object | None) -> int:
    """Return the digest after an entity is added (`was` None), changed, or removed (`now` None)."""
    if was is not None:
        digest -= entity_hash(kind, was)
    if now is not None:
        digest += entity_hash(kind, now)
    return digest % _MODULUS


def recompute_digest(image: MetadataImage) -> int:
    """Return the digest computed from scratch, for comparison with the updated digest."""
    return sum(entity_hash(kind, entity) for kind, entity in _entities(image)) % _MODULUS


def _entities(image: MetadataImage) -> Iterator[Entity]:
    """Yield every entity; the order does not affect the sum."""
    for broker in image.brokers.values():
        yield "broker", broker
    for topic in image.topics.values():
        yield "topic", topic
    for partitions in image.partitions.values():
        for partition in partitions.values():
            yield "partition", partition
    for feature in image.features.items():
        yield "feature", feature
    for resource, values in image.configs.items():
        for name, value in values.items():
            yield "config", (resource, name, value)
    for key, record in image.others.items():
        yield "other", (key, _named(record))


def _named(record: Struct) -> tuple[str, Struct]:
    return type(record).__name__, record


def other_entity(key: object, record: Struct | None) -> object | None:
    """Return the part of a kept record that enters the digest."""
    return None if record is None else (key, _named(record))
