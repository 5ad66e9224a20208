"""The generator's model of messages, independent of the source and of Python's syntax.

A struct has one set of fields over all its versions (what the Python class has) and, for each
version, the layout: which of them are on the wire, in order, and how (KIP-482 for tags).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

FIXED: Final = {
    "int8": ("b", 1),
    "int16": ("h", 2),
    "int32": ("i", 4),
    "int64": ("q", 8),
    "uint16": ("H", 2),
    "float64": ("d", 8),
    "bool": ("?", 1),
    "uuid": ("16s", 16),
}
PYTHON_TYPES: Final = {
    "float64": "float",
    "bool": "bool",
    "uuid": "Uuid",
    "string": "str",
    "bytes": "bytes",
    "records": "Records",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A field on the wire of one version."""

    name: str
    kind: str
    is_array: bool = False
    nullable: bool = False
    tag: int | None = None

    @property
    def is_struct(self) -> bool:
        """Return whether it is (an array of) another struct."""
        return self.kind not in FIXED and self.kind not in PYTHON_TYPES

    @property
    def python_type(self) -> str:
        """Its annotation, without null."""
        inner = self.kind if self.is_struct else PYTHON_TYPES.get(self.kind, "int")
        return f"tuple[{inner}, ...]" if self.is_array else inner


@dataclass(slots=True, kw_only=True)
class Struct:
    """A struct: its fields over all versions, and each version's layout."""

    name: str
    doc: str
    defaults: dict[str, str] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)
    layouts: dict[int, list[Use]] = field(default_factory=dict)

    def uses(self, name: str) -> list[Use]:
        """How each version that has the field `name` writes it, oldest first."""
        return [
            use
            for version in sorted(self.layouts)
            for use in self.layouts[version]
            if use.name == name
        ]

    def nullable(self, name: str) -> bool:
        """Return whether any version has a null there."""
        return any(use.nullable for use in self.uses(name))

    def lacking(self, version: int) -> Iterable[str]:
        """The fields that `version` does not have."""
        present = {use.name for use in self.layouts[version]}
        return (name for name in self.defaults if name not in present)


@dataclass(slots=True, kw_only=True)
class Message:
    """A message: structs in order of dependence, the message itself last."""

    name: str
    key: int
    is_api: bool
    flexible: dict[int, bool]
    structs: list[Struct]
    keeps_unknown_tags: bool = False
    """Whether the structs keep unknown tagged fields for the next encoder."""

    @property
    def versions(self) -> list[int]:
        """Its versions, oldest first."""
        return sorted(self.flexible)

    @property
    def flexible_from(self) -> int:
        """The first flexible version, or the last version + 1 without a flexible version."""
        return min((v for v, flag in self.flexible.items() if flag), default=self.versions[-1] + 1)


def implicit_default(use: Use, *, nullable: bool) -> str:
    """The default of a field whose schema names none."""
    if use.is_array:
        return "()"
    if nullable:
        return "None"
    if use.is_struct:
        return f"{use.kind}()"
    zeros = {"float64": "0.0", "bool": "False", "uuid": "ZERO_UUID", "string": '""', "bytes": 'b""'}
    return zeros.get(use.kind, "()" if use.kind == "records" else "0")
