"""Hold the quotas of clients by entity (KIP-546).

An entity names a user, a client id or both, or an IP address. A name of null is the default of its
type, which differs from the empty name. See kept_records.py for the records.
"""

from collections.abc import Iterable
from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.wire.records.metadata import ClientQuotaRecord

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
PRODUCER_RATE: Final = "producer_byte_rate"
CONSUMER_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_RATE: Final = "connection_creation_rate"

QuotaEntity = tuple[tuple[str, str | None], ...]
"""The types of an entity with their names, in order of types; a name of None is the default."""


class Quotas(Struct, frozen=True):
    """The quotas of each entity; an entity without a quota has no entry."""

    by_entity: Map[QuotaEntity, Map[str, float]] = Map()
    """The values by the key of the quota, for example `producer_byte_rate`."""

    def of(self, entity: QuotaEntity) -> Map[str, float]:
        """Return the quotas of exactly this entity."""
        return self.by_entity.get(entity, Map())

    def after(self, record: ClientQuotaRecord) -> "Quotas":
        """Return the quotas after a record."""
        entity, key = entity_of(record), record.key
        values = self.of(entity)
        if record.remove:
            values = values.delete(key) if key in values else values
        else:
            values = values.set(key, record.value)
        entities = self.by_entity
        if values:
            return Quotas(entities.set(entity, values))
        return Quotas(entities.delete(entity)) if entity in entities else self


NO_QUOTAS = Quotas()


def entity_of(record: ClientQuotaRecord) -> QuotaEntity:
    """Return the entity of a record."""
    return entity(*((part.entity_type, part.entity_name) for part in record.entity))


def entity(*parts: tuple[str, str | None]) -> QuotaEntity:
    """Return an entity from its types and names in any order."""
    return tuple(sorted(parts, key=lambda part: part[0]))


def quotas_of(kept: Iterable[Struct]) -> Quotas:
    """Return the quotas among the kept records of an image."""
    quotas = NO_QUOTAS
    for record in kept:
        if isinstance(record, ClientQuotaRecord):
            quotas = quotas.after(record)
    return quotas
