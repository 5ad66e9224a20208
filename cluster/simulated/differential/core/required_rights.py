"""Compare the rights that requests need with Kafka's table of operations and resources.

The numbers are those of the protocol: a request by its API key, an operation as in an entry.
"""

from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.security.required import ON_BROKERS, ON_CONTROLLERS, Required
from kraftproof.node.wire.messages import Message

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = range(3, 10)
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 10, 11, 12
Rights = tuple[int | None, int | None]
"""The operation on the cluster, and on the resource of each part."""
NOTHING: Final[Rights] = (None, None)
LOGINS_AND_TOKENS: Final = (17, 18, 36, 38, 39, 40)
"""Requests of anybody: logins, versions, and the tokens that their owners change."""
CONTROLLERS: Final[Mapping[int, Rights]] = {
    **dict.fromkeys(LOGINS_AND_TOKENS, NOTHING),
    # quorum, Envelope, brokers and controllers
    **dict.fromkeys((1, 52, 53, 54, 59, 58, 56, 62, 63, 67, 70, 73), (CLUSTER_ACTION, None)),
    # users, ACLs, reassignments, elections, brokers, features, the cluster as controllers see it
    **dict.fromkeys((30, 31, 43, 45, 51, 57, 60, 64), (ALTER, None)),
    **dict.fromkeys((29, 46, 55), (DESCRIBE, None)),
    **dict.fromkeys((33, 44), (None, ALTER_CONFIGS)),
    49: (ALTER_CONFIGS, None),
    19: (CREATE, CREATE),
    20: (DELETE, DELETE),
    37: (None, ALTER),
}
JUDGED_BY_THE_CONTROLLER: Final = (*(19, 20, 30, 31, 33, 37, 43, 44, 45, 46, 49, 51, 55, 57, 64),)
"""Requests that a broker forwards (590-18)."""
BROKERS: Final[Mapping[int, Rights]] = {
    **dict.fromkeys((*LOGINS_AND_TOKENS, 41, 60, *JUDGED_BY_THE_CONTROLLER), NOTHING),
    **dict.fromkeys((29, 35, 50), (DESCRIBE, None)),
    **dict.fromkeys((48, 74), (DESCRIBE_CONFIGS, None)),
    **dict.fromkeys((2, 3, 9, 10, 75), (None, DESCRIBE)),
    **dict.fromkeys((1, 61, 68), (None, READ)),
    0: (None, WRITE),
    21: (None, DELETE),
    22: (IDEMPOTENT_WRITE, WRITE),
    23: (CLUSTER_ACTION, DESCRIBE),
    32: (None, DESCRIBE_CONFIGS),
}
GROUP: Final = 3
OF_GROUPS: Final = {9, 10, 68}
"""Requests on brokers whose parts are groups; the parts of others are topics or configurations."""


def compare_required_rights() -> None:
    """Compare the rights for each request on both kinds of listeners.

    Raises:
        DifferenceError: a request needs another right.
    """
    for name, table, expected in (
        ("controllers", ON_CONTROLLERS, CONTROLLERS),
        ("brokers", ON_BROKERS, BROKERS),
    ):
        same(f"the rights for requests on {name}", _rights(table), dict(expected))
    groups = {kind.API_KEY for kind, one in ON_BROKERS.items() if one.kind == GROUP}
    same("the requests about groups", groups, OF_GROUPS)


def _rights(table: Mapping[type[Message], Required]) -> dict[int, Rights]:
    return {kind.API_KEY: (one.cluster, one.part) for kind, one in table.items()}
