"""Parse a line of JAAS: `org.example.LoginModule required key="value" key=value;`.

Kafka's brokers and clients configure their logins with such lines (sasl.jaas.config).
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
    r"""\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s;"']+))"""
)
_ESCAPED: Final = re.compile(r"\\(.)")


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
        value = _ESCAPED.sub(r"\1", quoted) if quoted is not None else single or bare or ""
        options[name] = value
        position = option.end()
    return JaasLine(module=found["module"].rpartition(".")[2], options=options)
