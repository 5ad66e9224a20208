"""Messages of Kafka's definitions as instances of our classes. No tests here."""

import re
import typing
from types import UnionType
from typing import Any

import msgspec

from tests.kafka.definitions import Field, Values


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def inner_types(annotation: Any) -> list[Any]:
    """What an annotation is made of: unions and tuples taken apart."""
    if isinstance(annotation, UnionType) or typing.get_origin(annotation) in {tuple, typing.Union}:
        return [leaf for arm in typing.get_args(annotation) for leaf in inner_types(arm)]
    return [annotation]


def part(cls: Any, field: Field) -> Any:
    """The class of ours that a field's structs have."""
    hints = typing.get_type_hints(cls)
    return next(
        kind
        for kind in inner_types(hints[snake(field.name)])
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    )


def to_ours(cls: Any, fields: tuple[Field, ...], values: Values) -> Any:
    """The message as an instance of our class, the fields of versions that it lacks left out."""
    names = {field.name for field in msgspec.structs.fields(cls)}
    return cls(
        **{
            snake(field.name): _plain(cls, field, values[field.name])
            for field in fields
            if snake(field.name) in names
        }
    )


def _plain(cls: Any, field: Field, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_plain_item(cls, field, item) for item in value)
    return _plain_item(cls, field, value)


def _plain_item(cls: Any, field: Field, value: Any) -> Any:
    if isinstance(value, dict):
        assert field.fields is not None
        return to_ours(part(cls, field), field.fields, value)
    return value
