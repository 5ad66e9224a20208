"""Write docs/configuration.md: each key of server.properties, and its effect in this node.

python -m scripts.configuration_page
"""

from pathlib import Path
from typing import Final

from kraftproof.node.core.configs.broker_keys import DEFINITIONS, OWN_DEFAULTS
from kraftproof.node.core.configs.dynamic import BOUND_AT_START, EFFECTIVE_WHILE_RUNNING
from kraftproof.node.core.configs.generated.broker_keys import BROKER_KEYS
from kraftproof.node.core.configs.generated.resources import BROKER_DEFINITIONS
from kraftproof.node.properties.keys import USED_KEYS
from kraftproof.node.properties.security_keys import SECURITY_KEYS

PAGE: Final = Path(__file__).resolve().parent.parent / "docs/configuration.md"
_DYNAMIC: Final = frozenset(definition.name for definition in BROKER_DEFINITIONS)
_OF_KAFKA: Final = {definition.name: definition.default for definition in BROKER_KEYS}
_INTRODUCTION: Final = """# Keys of server.properties

A node takes every key of a server.properties of Kafka 4.3.0. A key with an effect is obeyed. For
each other key the node checks the value and prints one warning at its start. A key that Kafka does
not define is refused with the names of similar keys. `listener.name.<listener>.` before a key sets
the value of one listener.

"While running" tells whether a change by `kafka-configs --entity-type brokers` takes effect without
a restart: `yes`; `stored`: the value is kept and shown, and has no effect; `no`: the change is
refused, as in Kafka except for """


def page() -> str:
    """Return the text of the page."""
    lines = [
        _INTRODUCTION + " and ".join(f"`{key}`" for key in sorted(BOUND_AT_START)) + ".",
        "",
        "| key | Kafka's default | effect | while running |",
        "| --- | --- | --- | --- |",
    ]
    own = {key: None for key in USED_KEYS if key not in DEFINITIONS}
    for key in sorted({*DEFINITIONS, *own}):
        definition = DEFINITIONS.get(key)
        if definition is not None and definition.is_internal:
            continue
        default = "not a key of Kafka" if definition is None else f"`{definition.default or ''}`"
        if key in OWN_DEFAULTS:
            default = f"`{_OF_KAFKA[key]}`; here `{OWN_DEFAULTS[key]}`, as in KIP-631"
        used = {*USED_KEYS, *SECURITY_KEYS, *EFFECTIVE_WHILE_RUNNING}
        effect = "yes" if key in used else "none"
        lines.append(f"| `{key}` | {default.replace('``', '')} | {effect} | {_running(key)} |")
    return (
        "\n".join([*lines, "", "The page is written by `python -m scripts.configuration_page`."])
        + "\n"
    )


def _running(key: str) -> str:
    if key in EFFECTIVE_WHILE_RUNNING:
        return "yes"
    return "stored" if key in _DYNAMIC and key not in BOUND_AT_START else "no"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
