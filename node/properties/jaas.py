"""Parse a line of JAAS: `org.example.LoginModule required key="value" key=value;`.

Kafka's brokers and clients configure their logins with such lines (sasl.jaas.config). A backslash
in a quoted value escapes as in Java's StreamTokenizer, which Kafka reads such lines with.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.properties.keys import ConfigError

_LINE: Final = re.compile(
    r"\s*(?P<module>[\w.$]+)\s+(?i:required|requisite|sufficient|optional)(?P<options>[^;]*.*);\s*",
    re.DOTALL,
)
_OPTION: Final = re.compile(
    r"""\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))""",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_LETTERS: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


class JaasLine(Struct, frozen=True, kw_only=True):
    """A login module and its options; the options hold passwords and are never printed."""

    module: str
    options: Mapping[str, str]


def parse_jaas(key: str, text: str) -> JaasLine:
    """Return the module and the options of the line that `key` configures.

    Raises:
        ConfigError: the text is no line of JAAS; the message does not repeat the text.
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"{key}: is no JAAS line; expected LoginModule required username=... password=...;"
        )
    options: dict[str, str] = {}
    rest, position = found["options"], 0
    while rest[position:].strip():
        option = _OPTION.match(rest, position)
        if option is None:
            raise ConfigError(f"{key}: an option of the JAAS line is not name=value")
        name, quoted, single, bare = option.groups()
        escaped = quoted if quoted is not None else single
        options[name] = bare if escaped is None else _ESCAPED.sub(_character, escaped)
        position = option.end()
    return JaasLine(module=found["module"].rpartition(".")[2], options=options)


def _character(found: re.Match[str]) -> str:
    escaped = found[1]
    return chr(int(escaped, 8)) if escaped[0] in "01234567" else _LETTERS.get(escaped, escaped)
