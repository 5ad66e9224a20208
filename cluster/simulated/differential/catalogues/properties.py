"""The comparisons of the reading of server.properties, with their invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.part import PROPERTIES as PACKAGE
from kraftproof.cluster.simulated.differential.part import Comparison
from kraftproof.cluster.simulated.differential.properties.identities import compare_node_identities
from kraftproof.cluster.simulated.differential.properties.jaas import compare_jaas
from kraftproof.cluster.simulated.differential.properties.known_keys import compare_known_keys
from kraftproof.cluster.simulated.differential.properties.listeners import (
    compare_configured_listeners,
)
from kraftproof.cluster.simulated.differential.properties.numbers import compare_numbers
from kraftproof.cluster.simulated.differential.properties.security import compare_security
from kraftproof.cluster.simulated.differential.properties.tls_contexts import compare_tls_contexts
from kraftproof.cluster.simulated.differential.properties.topic_defaults import (
    compare_topic_defaults,
)
from kraftproof.cluster.simulated.differential.properties.voters import compare_voters
from kraftproof.cluster.simulated.differential.properties.words import compare_words

SETTINGS: Final = "SettingsMatchReference"
SETTINGS_STATEMENT: Final = (
    "A server.properties is read with the units, bounds, defaults and escapes of Kafka, or refused "
    "with the key and the value."
)

PROPERTIES: Final = tuple(
    Comparison(SETTINGS, SETTINGS_STATEMENT, (PACKAGE,), compare)
    for compare in (
        compare_numbers,
        compare_topic_defaults,
        compare_known_keys,
        compare_words,
        compare_node_identities,
        compare_configured_listeners,
        compare_voters,
        compare_jaas,
        compare_security,
        compare_tls_contexts,
    )
)
"""In the order of a run that compares several."""
