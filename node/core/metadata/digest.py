"""A digest of an image that does not depend on order: the sum of its entities' hashes.

Each change subtracts the entity that was and adds the one that is, so keeping the digest costs
two short hashes a record, whatever the size of the image. Two images with equal digests hold
equal entities, but for an accident of one in 2**128. Not: protection against forgery.
"""

from collections.abc import Iterator
from hashlib import blake2b

from msgspec import Struct, msgpack

from kraftproof.node.core.metadata.image import MetadataImage

_MODULUS = 1 << 128
_encode = msgpack.Encoder().encode

Entity = tuple[str, object]
"""A kind and the entity, or key and value where the entity alone does not name itself."""


def entity_hash(kind: str, entity: object) -> int:
    """The 128-bit hash of an entity's canonical bytes."""
    return int.from_bytes(blake2b(_encode((kind, entity)), digest_size=16).digest(), "big")


def update_digest(digest: int, kind: str, was: object | None, now: object | None) -> int:
    """The digest after an entity came (`was` None), changed, or went (`now` None)."""
    if was is not None:
        digest -= entity_hash(kind, was)
    if now is not None:
        digest += entity_hash(kind, now)
    return digest % _MODULUS


def recompute_digest(image: MetadataImage) -> int:
    """The digest from scratch, to compare with the one that `apply` kept."""
    return sum(entity_hash(kind, entity) for kind, entity in _entities(image)) % _MODULUS


def _entities(image: MetadataImage) -> Iterator[Entity]:
    """Every entity; their order does not reach the sum."""
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
    """What of a record kept whole goes into the digest."""
    return None if record is None else (key, _named(record))
