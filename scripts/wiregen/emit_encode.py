"""Generate the source of an encoder: a function per struct and version."""

from collections.abc import Callable, Mapping

from scripts.wiregen.ignorable import is_ignorable
from scripts.wiregen.model import FIXED, Message, Struct, Use

Names = Mapping[tuple[str, str, int], str]
Layout = Callable[[str], str]
NULL_STRUCT = 255
"""The byte before a struct that is null: the signed number -1."""
PRESENT_STRUCT = 1
"""The byte before a struct that may be null and is not."""


def encoder_body(
    layout: Layout, message: Message, struct: Struct, version: int, names: Names
) -> str:
    """The text of the encoder after its name."""
    return _Encoder(layout, message, struct, version, names).text()


class _Encoder:
    def __init__(
        self, layout: Layout, message: Message, struct: Struct, version: int, names: Names
    ) -> None:
        self._layout = layout
        self._message = message
        self._struct = struct
        self._version = version
        self._names = names
        self._flexible = message.flexible[version]
        self._lines: list[str] = []
        self._run: list[tuple[str, str]] = []

    def text(self) -> str:
        """The signature and the statements."""
        for name in self._struct.lacking(self._version):
            if not is_ignorable(self._message.name, self._struct.name, name):
                self._raise_if(f"m.{name} != {self._struct.defaults[name]}", "lacking_field", name)
        uses = self._struct.layouts[self._version]
        for use in uses:
            if use.tag is None:
                self._field(use)
        if self._flexible:
            tagged = sorted((u for u in uses if u.tag is not None), key=lambda use: use.tag or 0)
            if tagged:
                self._tags(tagged)
            elif self._message.keeps_unknown_tags:
                self._flush()
                self._lines += ["if m.unknown_tags:", "    w.uvarint(len(m.unknown_tags))"]
                self._lines += ["    write_tags(w, m.unknown_tags)", "else:", "    w.append(0)"]
            else:
                self._run.append(("B", "0"))
        self._flush()
        body = "\n    ".join(self._lines or ["del m, w"])
        return f"(m: {self._struct.name}, w: Writer) -> None:\n    {body}"

    def _raise_if(self, condition: str, error: str, field: str) -> None:
        self._lines.append(f"if {condition}:")
        self._lines.append(f'    raise {error}("{self._struct.name}", "{field}", {self._version})')

    def _flush(self) -> None:
        if self._run == [("B", "0")]:
            self._lines.append("w.append(0)")
        elif self._run:
            codes = "".join(code for code, _ in self._run)
            values = ", ".join(value for _, value in self._run)
            self._lines.append(f"w += {self._layout(codes)}.pack({values})")
        self._run = []

    def _field(self, use: Use) -> None:
        if use.kind in FIXED and not use.is_array:
            value = f"m.{use.name}"
            self._run.append(
                (FIXED[use.kind][0], f"uuid16({value})" if use.kind == "uuid" else value)
            )
            return
        self._flush()
        self._lines += self._value(use, "w")

    def _value(self, use: Use, out: str) -> list[str]:
        """Return the statements that write a field to the writer `out`."""
        value = f"m.{use.name}"
        guard = []
        if self._struct.nullable(use.name) and not use.nullable:
            arguments = f'"{self._struct.name}", "{use.name}", {self._version}'
            guard = [f"if {value} is None:", f"    raise null_field({arguments})"]
        if use.is_array:
            return guard + self._array(use, value, out)
        if use.is_struct and use.nullable:
            nested = f"    {self._nested(use)}({value}, {out})"
            return [
                f"if {value} is None:",
                f"    {out}.append({NULL_STRUCT})",
                "else:",
                f"    {out}.append({PRESENT_STRUCT})",
                nested,
            ]
        if use.is_struct:
            return [f"{self._nested(use)}({value}, {out})"]
        if use.kind in FIXED:
            return [f"{out} += {self._layout(FIXED[use.kind][0])}.pack({value})"]
        if use.kind == "records":
            value = f"encode_records({value})"
            if use.nullable:
                value += f" if m.{use.name} is not None else None"
        method = "bytes" if use.kind == "records" else use.kind
        return [*guard, f"{out}.{method_name(method, use, flexible=self._flexible)}({value})"]

    def _array(self, use: Use, value: str, out: str) -> list[str]:
        count = (
            f"{out}.uvarint(len({value}) + 1)"
            if self._flexible
            else f"{out}.array_count(len({value}))"
        )
        item = f"{use.name}_item"
        if use.is_struct:
            rest = [f"for {item} in {value}:", f"    {self._nested(use)}({item}, {out})"]
        elif use.kind == "uuid":
            rest = [f"for {item} in {value}:", f"    {out} += uuid16({item})"]
        elif use.kind in FIXED:
            rest = [f'{out}.fixed_array("{FIXED[use.kind][0]}", {value})']
        else:
            inner = Use(name=use.name, kind=use.kind)
            method = method_name(use.kind, inner, flexible=self._flexible)
            rest = [f"for {item} in {value}:", f"    {out}.{method}({item})"]
        if not use.nullable:
            return [count, *rest]
        null = f"{out}.append(0)" if self._flexible else f"{out}.array_count(-1)"
        body = [f"    {line}" for line in (count, *rest)]
        return [f"if {value} is None:", f"    {null}", "else:", *body]

    def _nested(self, use: Use) -> str:
        return self._names["encode", use.kind, self._version]

    def _tags(self, tagged: list[Use]) -> None:
        self._flush()
        conditions = [f"m.{use.name} != {self._struct.defaults[use.name]}" for use in tagged]
        count = " + ".join(f"({c})" for c in conditions)
        if self._message.keeps_unknown_tags:
            self._lines.append(f"w.uvarint({count} + len(m.unknown_tags))")
        else:
            self._lines.append(f"w.append({count})")
        for use, condition in zip(tagged, conditions, strict=True):
            self._lines += [f"if {condition}:", "    tag = Writer()"]
            self._lines += [f"    {line}" for line in self._value(use, "tag")]
            self._lines += [f"    w.uvarint({use.tag})", "    w.uvarint(len(tag))", "    w += tag"]
        if self._message.keeps_unknown_tags:
            self._lines += ["if m.unknown_tags:", "    write_tags(w, m.unknown_tags)"]


def method_name(kind: str, use: Use, *, flexible: bool) -> str:
    """The name of the Reader's or Writer's method for a string or bytes."""
    if flexible:
        return f"compact_nullable_{kind}" if use.nullable else f"compact_{kind}"
    if use.nullable:
        return f"nullable_{kind}"
    return "legacy_bytes" if kind == "bytes" else kind
