"""Sort the keys of a server.properties: used, known without effect, or unknown (KIP-631).

A file of Kafka starts this node: a key that the node does not use is checked and named in one
warning. A key that Kafka does not define is most likely a typing error, and is refused.
"""

from collections.abc import Collection, Mapping

from kraftproof.node.core.configs.broker_keys import DEFINITIONS, definition_of
from kraftproof.node.core.configs.values import InvalidConfigError, parse_value
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.security_keys import is_security_key

NEAR_KEYS = 3
"""Maximum number of similar keys that a refusal names."""


def unused_keys(pairs: Mapping[str, str], used: Collection[str]) -> tuple[str, ...]:
    """Return the keys of a file that have no effect in this node, in order of the file.

    Raises:
        ConfigError: Kafka does not define a key, or a value is illegal.
    """
    unused = []
    for key, value in pairs.items():
        if key in used or is_security_key(key):
            continue
        definition = definition_of(key)
        if definition is None:
            raise ConfigError(f"{key}: unknown configuration key{_hint(key, used)}")
        try:
            if value:
                parse_value(definition, value)
        except InvalidConfigError as error:
            reason = str(error).partition(": ")[2]
            raise ConfigError(f"{key}={value}: is not valid, {reason}") from error
        unused.append(key)
    return tuple(unused)


def unused_warning(key: str) -> str:
    """Return the line that a node prints at its start for a key without effect."""
    return f"{key}: this key of Kafka has no effect in this node"


def _hint(key: str, used: Collection[str]) -> str:
    import difflib  # seldom needed, and each node pays for its modules

    known = sorted({*used, *DEFINITIONS})
    near = difflib.get_close_matches(key, known, n=NEAR_KEYS, cutoff=0.75)
    if not near:
        return "; remove it"
    *first, last = near
    return f"; did you mean {', '.join(first)} or {last}?" if first else f"; did you mean {last}?"
