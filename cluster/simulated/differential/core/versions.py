"""Compare the served versions of requests, and what depends on metadata.version, with Kafka's.

The tables are written down a second time: those of Kafka 4.3.0, less the requests and versions that
this node does not serve.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.metadata import version
from kraftproof.node.core.served import served_versions

OF_CONTROLLERS: Final = {
    1: (12, 18),
    17: (0, 1),
    18: (0, 4),
    19: (2, 7),
    20: (1, 6),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    33: (0, 2),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    43: (1, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    49: (0, 1),
    51: (0, 0),
    52: (0, 1),
    53: (0, 1),
    54: (0, 1),
    55: (0, 2),
    56: (2, 3),
    57: (0, 2),
    58: (0, 0),
    59: (0, 1),
    60: (0, 2),
    62: (0, 4),
    63: (0, 2),
    64: (0, 0),
    67: (0, 0),
    70: (0, 0),
    73: (0, 0),
}

OF_BROKERS: Final = {
    0: (3, 13),
    1: (4, 18),
    2: (1, 11),
    3: (0, 13),
    9: (1, 10),
    10: (0, 6),
    17: (0, 1),
    18: (0, 4),
    19: (2, 7),
    20: (1, 6),
    21: (0, 2),
    22: (0, 5),
    23: (2, 4),
    29: (1, 3),
    30: (1, 3),
    31: (1, 3),
    32: (1, 4),
    33: (0, 2),
    35: (1, 5),
    36: (0, 2),
    37: (0, 3),
    38: (1, 3),
    39: (1, 2),
    40: (1, 2),
    41: (1, 3),
    43: (1, 2),
    44: (0, 1),
    45: (0, 1),
    46: (0, 0),
    48: (0, 1),
    49: (0, 1),
    50: (0, 0),
    51: (0, 0),
    55: (0, 2),
    57: (0, 2),
    60: (0, 2),
    61: (0, 0),
    64: (0, 0),
    68: (0, 1),
    74: (0, 1),
    75: (0, 0),
}
"""The API keys of each listener, with the oldest and the newest version."""
LOSES_METADATA: Final = (7, 8, 11, 13, 14, 15, 17, 23, 30)
FETCH: Final = {7: 13, 9: 14, 10: 15, 19: 16, 21: 17, 27: 18}
LIST_OFFSETS: Final = {7: 7, 9: 8, 21: 9, 25: 10, 29: 11}
ALTER_PARTITION: Final = {7: 2, 10: 3}
"""The versions of requests between nodes, from a level of metadata.version on."""


def compare_versions(random: Random) -> None:
    """Compare the served versions, and what a drawn level of metadata.version changes.

    Raises:
        DifferenceError: the node has another table.
    """
    for served, is_controller in ((OF_CONTROLLERS, True), (OF_BROKERS, False)):
        found = served_versions(on_controller_listener=is_controller)
        same("the served versions of requests", found, served)
    same("the levels with new metadata", sorted(version.CHANGED_METADATA), [*LOSES_METADATA])
    level = random.randint(7, 30)
    for what, find, table in (
        ("Fetch", version.fetch_version, FETCH),
        ("ListOffsets", version.list_offsets_version, LIST_OFFSETS),
        ("AlterPartition", version.alter_partition_version, ALTER_PARTITION),
    ):
        newest = max(least for least in table if least <= level)
        same(f"the version of {what} at level {level}", find(level), table[newest])
    starts = (version.REPLICA_EPOCHS_FROM, version.CONTROLLERS_FROM, version.DIRECTORIES_FROM)
    same("the levels of broker epochs, controllers and directories", starts, (10, 15, 17))
