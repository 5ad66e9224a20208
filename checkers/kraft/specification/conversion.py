"""Convert messages of a cluster, and records of collected logs, to rows (rows.py)."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import msgspec

from kraftproof.checkers.kraft.specification.rows import NoOpRecord, OtherRecord, Row
from kraftproof.checkers.kraft.specification.rows import clients as client_rows
from kraftproof.checkers.kraft.specification.rows import cluster as cluster_rows
from kraftproof.checkers.kraft.specification.rows import configs as config_rows
from kraftproof.checkers.kraft.specification.rows import partitions as partition_rows
from kraftproof.checkers.kraft.specification.rows import quotas as quota_rows
from kraftproof.checkers.kraft.specification.rows import secrets as secret_rows
from kraftproof.checkers.kraft.specification.rows import security as security_rows

_MODULES: Final = {
    Row.__module__,
    client_rows.__name__,
    cluster_rows.__name__,
    config_rows.__name__,
    partition_rows.__name__,
    security_rows.__name__,
    secret_rows.__name__,
    quota_rows.__name__,
}
_KINDS: Final[Mapping[str, type[Row]]] = {
    kind.__name__: kind for kind in Row.__subclasses__() if kind.__module__ in _MODULES
}
_NOTHING: Final = NoOpRecord()


def row_of(message: object) -> Row:
    """Return a message or a record as a row; the name of its class tells the kind."""
    name = type(message).__name__
    if name == "NoOpRecord":
        return _NOTHING
    kind = _KINDS.get(name)
    if kind is None:
        return OtherRecord(kind=name)
    return msgspec.convert(message, kind, from_attributes=True)


def row_of_fields(kind: str, fields: Mapping[str, object]) -> Row:
    """Return a record of a collected log as a row, such as `TOPIC_RECORD` with its fields."""
    name = _class_name(kind)
    found = _KINDS.get(name)
    return OtherRecord(kind=name) if found is None else msgspec.convert(fields, found)


@cache
def _class_name(kind: str) -> str:
    return "".join(word.capitalize() for word in kind.lower().split("_"))
