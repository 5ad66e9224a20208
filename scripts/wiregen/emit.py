"""Python modules from messages: the classes, and an encoder and a decoder for each version.

Runs of fixed-width fields are packed and unpacked in one call; two versions with the same
code share one function. Nothing is looked up by name at run time.
"""

import re

from scripts.wiregen.emit_decode import decoder_body
from scripts.wiregen.emit_encode import encoder_body
from scripts.wiregen.model import Message, Struct

_IMPORTS = {
    "import struct": r"\bstruct\.Struct\b",
    "from typing import ClassVar": r"\bClassVar\b",
    "from kraftproof.node.wire.records.batches import encode_records": r"\bencode_records\b",
    "from kraftproof.node.wire.records.field import Records": r"\bRecords\b",
    "from kraftproof.node.wire.primitives import Reader, Writer": r"\bReader\b",
}
_SCHEMA_NAMES = ("Message", "Entity", "Schema", "lacking_field", "null_field")
_PRIMITIVE_NAMES = ("Reader", "Writer", "uuid16")
_TYPE_NAMES = ("ZERO_UUID", "Uuid")
_TAG_NAMES = ("UnknownTags", "read_tags", "write_tags")


class Module:
    """A generated module: classes, layouts and functions."""

    def __init__(self, doc: str) -> None:
        self._doc = doc
        self._layouts: dict[str, str] = {}
        self._classes: list[str] = []
        self._functions: list[str] = []
        self._schemas: list[str] = []

    def layout(self, codes: str) -> str:
        """The module's name for the struct layout `codes`."""
        name = "_" + "".join(_spelled(code) for code in re.findall(r"16s|.", codes)).upper()
        self._layouts[name] = f'{name} = struct.Struct(">{codes}")'
        return name

    def add(self, message: Message) -> None:
        """Add the classes, functions and schema of a message."""
        names: dict[tuple[str, str, int], str] = {}
        for struct in message.structs:
            self._classes.append(class_text(message, struct))
            for version in sorted(struct.layouts):
                self._add_functions(message, struct, version, names)
        self._schemas.append(_schema_text(message, names))

    def _add_functions(
        self,
        message: Message,
        struct: Struct,
        version: int,
        names: dict[tuple[str, str, int], str],
    ) -> None:
        for role, body_of in (("encode", encoder_body), ("decode", decoder_body)):
            name = f"_{role}_{snake(struct.name)}_v{version}"
            body = body_of(self.layout, message, struct, version, names)
            for earlier in range(version):
                key = (role, struct.name, earlier)
                if key in names and _defines(self._functions, names[key], body):
                    name = names[key]
            names[role, struct.name, version] = name
            text = f"def {name}{body}"
            if text not in self._functions:
                self._functions.append(text)

    def text(self) -> str:
        """The module's source."""
        body = "\n\n\n".join([*self._classes, *self._functions, *self._schemas])
        imports = [
            line for line, used in _IMPORTS.items() if re.search(used, body + "struct.Struct")
        ]
        if not self._layouts:
            imports.remove("import struct")
        lines = [line for line in imports if "primitives" not in line]
        for module, names in (
            ("primitives", _PRIMITIVE_NAMES),
            ("schema", _SCHEMA_NAMES),
            ("types", _TYPE_NAMES),
            ("unknown_tags", _TAG_NAMES),
        ):
            used = [name for name in names if re.search(rf"\b{name}\b", body)]
            if used:
                lines.append(f"from kraftproof.node.wire.{module} import {', '.join(used)}")
        layouts = "\n".join(self._layouts[name] for name in sorted(self._layouts))
        return f'"""{self._doc}"""\n\n' + "\n".join(lines) + f"\n\n{layouts}\n\n\n{body}\n"


def _defines(functions: list[str], name: str, body: str) -> bool:
    return f"def {name}{body}" in functions


def _spelled(code: str) -> str:
    # One letter a code, whatever its case: f(lag), t(agless end), u(uid), w(ide unsigned).
    return {"?": "f", "B": "t", "16s": "u", "H": "w"}.get(code, code)


def snake(name: str) -> str:
    """CamelCase as snake_case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def class_text(message: Message, struct: Struct) -> str:
    """The class statement of a struct."""
    is_root = struct is message.structs[-1]
    base = "Message" if message.is_api and is_root else "Entity"
    versions = f"versions {message.versions[0]} to {message.versions[-1]}"
    doc = struct.doc or (f"{struct.name}, {versions}." if is_root else f"Part of {message.name}.")
    lines = [
        f"class {struct.name}({base}, frozen=True, kw_only=True, gc=False):",
        f'    """{doc}"""',
        "",
    ]
    if is_root and message.key >= 0:
        key = "API_KEY" if message.is_api else "KEY"
        lines += [
            f"    {key}: ClassVar[int] = {message.key}",
            f"    MIN_VERSION: ClassVar[int] = {message.versions[0]}",
            f"    MAX_VERSION: ClassVar[int] = {message.versions[-1]}",
        ]
    for name, default in struct.defaults.items():
        null = " | None" if struct.nullable(name) else ""
        lines.append(f"    {name}: {struct.uses(name)[-1].python_type}{null} = {default}")
    if message.keeps_unknown_tags:
        lines.append("    unknown_tags: UnknownTags = ()")
    return "\n".join(lines)


def _schema_text(message: Message, names: dict[tuple[str, str, int], str]) -> str:
    def table(role: str) -> str:
        pairs = (f"{v}: {names[role, message.name, v]}" for v in message.versions)
        return "{" + ", ".join(pairs) + "}"

    return (
        f"{snake(message.name).upper()}: Schema = Schema("
        f"message={message.name}, key={message.key}, min_version={message.versions[0]}, "
        f"max_version={message.versions[-1]}, flexible_from={message.flexible_from}, "
        f"encoders={table('encode')}, decoders={table('decode')})"
    )
