"""Define AlterClientQuotas and its record as rows, by the names of Kafka's schemas."""

from kraftproof.checkers.kraft.specification.rows import Row


class EntityPart(Row, frozen=True, kw_only=True, gc=False):
    """A type of an entity with its name; null is the default of the type."""

    entity_type: str
    entity_name: str | None = None


class ClientQuotaRecord(Row, frozen=True, kw_only=True, gc=False):
    """A quota of an entity is set or removed."""

    entity: tuple[EntityPart, ...]
    key: str
    value: float = 0.0
    remove: bool = False


class QuotaOperation(Row, frozen=True, kw_only=True, gc=False):
    """The wanted value of a quota, or its removal."""

    key: str
    value: float = 0.0
    remove: bool = False


class QuotaEntry(Row, frozen=True, kw_only=True, gc=False):
    """The wanted quotas of an entity."""

    entity: tuple[EntityPart, ...] = ()
    ops: tuple[QuotaOperation, ...] = ()


class AlterClientQuotasRequest(Row, frozen=True, kw_only=True, gc=False):
    """Quotas to change, or only to validate."""

    entries: tuple[QuotaEntry, ...] = ()
    validate_only: bool = False


class QuotaResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of an entity."""

    entity: tuple[EntityPart, ...] = ()
    error_code: int = 0


class AlterClientQuotasResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AlterClientQuotas."""

    entries: tuple[QuotaResult, ...] = ()
