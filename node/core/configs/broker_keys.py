"""Find the definition of a key of server.properties (KIP-631 "Configurations").

The table is generated from Kafka's jars. The node uses two defaults of KIP-631; released Kafka has
shorter times. Beside these keys, Kafka reads keys of the authorizer, of one listener, and of
plugins, whose names begin with a fixed prefix.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.configs.definition import ConfigType, Definition
from kraftproof.node.core.configs.generated.broker_keys import BROKER_KEYS

LISTENER_PREFIX: Final = "listener.name."
"""The prefix of a listener's own value of a key: `listener.name.<name>.<key>`."""
_PLUGIN_PREFIXES: Final = ("config.providers.", "rlmm.config.", "rsm.config.")
_JAAS: Final = ".sasl.jaas.config"
_OF_AUTHORIZER: Final = (
    Definition(name="super.users", type=ConfigType.STRING, default=""),
    Definition(name="allow.everyone.if.no.acl.found", type=ConfigType.BOOLEAN, default="false"),
)
OWN_DEFAULTS: Final[Mapping[str, str]] = {
    "broker.heartbeat.interval.ms": "3000",
    "broker.session.timeout.ms": "18000",
}
"""The defaults of KIP-631 in place of Kafka's (631-81)."""
DEFINITIONS: Final[Mapping[str, Definition]] = {
    definition.name: replace(
        definition, default=OWN_DEFAULTS.get(definition.name, definition.default)
    )
    for definition in (*BROKER_KEYS, *_OF_AUTHORIZER)
}
"""Each key of Kafka's server.properties with type and bounds, and the default of this node."""


def definition_of(key: str) -> Definition | None:
    """Return the definition of a key; None for a key that Kafka does not define."""
    found = DEFINITIONS.get(key)
    if found is not None:
        return found
    if key.startswith(_PLUGIN_PREFIXES):
        return Definition(name=key, type=ConfigType.STRING)
    if key.startswith(LISTENER_PREFIX):
        listener, _, rest = key.removeprefix(LISTENER_PREFIX).partition(".")
        if listener and rest:
            return _of_listener(rest)
    return None


def _of_listener(rest: str) -> Definition | None:
    """Return the definition of the part of a key behind the listener's name."""
    if rest.endswith(_JAAS):
        return Definition(name=rest, type=ConfigType.PASSWORD)
    found = DEFINITIONS.get(rest)
    if found is None:
        # The mechanism's own value of a key of SASL: `<mechanism>.<key>`.
        found = DEFINITIONS.get(rest.partition(".")[2])
    return found
