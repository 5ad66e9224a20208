"""Generate the source of a decoder: a function per struct and version."""

from scripts.wiregen.emit_encode import Layout, Names, method_name
from scripts.wiregen.model import FIXED, Message, Struct, Use


def decoder_body(
    layout: Layout, message: Message, struct: Struct, version: int, names: Names
) -> str:
    """The text of the decoder after its name."""
    return _Decoder(layout, message, struct, version, names).text()


def least_bytes(message: Message, struct: Struct, version: int) -> int:
    """The fewest bytes that a struct can take on the wire."""
    flexible = message.flexible[version]
    total = 1 if flexible else 0
    for use in struct.layouts[version]:
        if use.tag is not None:
            continue
        if use.is_struct and use.nullable and not use.is_array:
            total += 1
        elif use.is_struct and not use.is_array:
            inner = next(s for s in message.structs if s.name == use.kind)
            total += least_bytes(message, inner, version)
        else:
            total += _least_of(use, flexible=flexible)
    return total


def _least_of(use: Use, *, flexible: bool) -> int:
    if use.kind in FIXED and not use.is_array:
        return FIXED[use.kind][1]
    if flexible:
        return 1
    return 2 if use.kind == "string" and not use.is_array else 4


class _Decoder:
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
        self._run: list[Use] = []

    def text(self) -> str:
        """The signature and the statements."""
        uses = self._struct.layouts[self._version]
        for use in uses:
            if use.tag is None:
                self._field(use)
        self._flush()
        tagged = [use for use in uses if use.tag is not None]
        if tagged:
            self._tags(tagged)
        elif self._flexible:
            keeps = self._message.keeps_unknown_tags
            self._lines.append("unknown_tags_ = read_tags(r)" if keeps else "r.skip_tags()")
        named = [use.name for use in uses]
        if self._message.keeps_unknown_tags:
            named.append("unknown_tags")
        arguments = ", ".join(f"{name}={name}_" for name in named)
        self._lines.append(f"return {self._struct.name}({arguments})")
        if len(self._lines) == 1:
            self._lines.insert(0, "del r")
        body = "\n    ".join(self._lines)
        return f"(r: Reader) -> {self._struct.name}:\n    {body}"

    def _flush(self) -> None:
        if self._run:
            codes = "".join(FIXED[use.kind][0] for use in self._run)
            targets = ", ".join(f"{use.name}_" for use in self._run)
            if len(self._run) == 1:
                targets = f"({targets},)"
            self._lines.append(f"{targets} = r.unpack({self._layout(codes)})")
            self._run = []

    def _field(self, use: Use) -> None:
        if use.kind in FIXED and not use.is_array:
            self._run.append(use)
            return
        self._flush()
        self._lines += self._value(use)

    def _value(self, use: Use) -> list[str]:
        """Return the statements that read a field into a variable."""
        target = f"{use.name}_"
        if use.is_array:
            return self._array(use, target)
        if use.is_struct:
            struct = f"{self._names['decode', use.kind, self._version]}(r)"
            if not use.nullable:
                return [f"{target} = {struct}"]
            # A negative number stands for null.
            return [
                f"(n,) = r.unpack({self._layout(FIXED['int8'][0])})",
                f"{target} = None if n < 0 else {struct}",
            ]
        if use.kind in FIXED:
            return [f"({target},) = r.unpack({self._layout(FIXED[use.kind][0])})"]
        kind = "bytes" if use.kind == "records" else use.kind
        return [f"{target} = r.{method_name(kind, use, flexible=self._flexible)}()"]

    def _array(self, use: Use, target: str) -> list[str]:
        prefix = "compact_" if self._flexible else ""
        method = f"{prefix}nullable_count" if use.nullable else f"{prefix}count"
        if use.is_struct:
            inner = next(s for s in self._message.structs if s.name == use.kind)
            least = least_bytes(self._message, inner, self._version)
            one = f"{self._names['decode', use.kind, self._version]}(r)"
            items = f"tuple([{one} for _ in range(n)])"
        elif use.kind in FIXED and use.kind != "uuid":
            code, least = FIXED[use.kind]
            items = f'r.fixed_array("{code}", n)'
        else:
            element = Use(name=use.name, kind=use.kind)
            least = _least_of(element, flexible=self._flexible)
            name = method_name(use.kind, element, flexible=self._flexible)
            items = f"tuple([r.{'uuid' if use.kind == 'uuid' else name}() for _ in range(n)])"
        null = "None if n < 0 else " if use.nullable else ""
        return [f"n = r.{method}({max(least, 1)})", f"{target} = {null}{items}"]

    def _tags(self, tagged: list[Use]) -> None:
        for use in tagged:
            null = " | None" if self._struct.nullable(use.name) else ""
            default = self._struct.defaults[use.name]
            self._lines.append(f"{use.name}_: {use.python_type}{null} = {default}")
        if self._message.keeps_unknown_tags:
            self._lines.append("unknown: list[tuple[int, bytes]] | None = None")
        self._lines += [
            "for _ in range(r.uvarint()):",
            "    tag = r.uvarint()",
            "    size = r.uvarint()",
            "    end = r.position + size",
        ]
        for number, use in enumerate(tagged):
            self._lines.append(f"    {'elif' if number else 'if'} tag == {use.tag}:")
            self._lines += [f"        {line}" for line in self._value(use)]
            self._lines.append(f'        r.finish_tag(end, "{use.name}")')
        if not self._message.keeps_unknown_tags:
            self._lines += ["    else:", "        r.take(size)"]
            return
        self._lines += [
            "    else:",
            "        unknown = unknown or []",
            "        unknown.append((tag, r.take(size).tobytes()))",
            "unknown_tags_: UnknownTags = tuple(unknown) if unknown else ()",
        ]
