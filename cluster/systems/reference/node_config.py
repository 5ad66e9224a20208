"""Keys of server.properties that a run may set in its nodes, on each backend.

The keys decide how often a log is cut, whether partitions are flushed before they acknowledge, and
whether live nodes have an authorizer and logins (secured.py).
Time-outs belong to a profile, since the checks have to know them (timeouts.py).
"""

from collections.abc import Iterable
from typing import Final

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.systems.kafka.durability import DURABLE, FLUSH_KEY
from kraftproof.cluster.systems.reference.chosen_security import SECURITY_KEYS, refuse_security
from kraftproof.cluster.systems.reference.timeouts import properties
from kraftproof.node.core.base.config import SnapshotPolicy
from kraftproof.node.properties.config import read_segment_bytes, read_snapshots
from kraftproof.node.properties.keys import (
    SEGMENT_BYTES_KEY,
    SNAPSHOT_BYTES_KEY,
    SNAPSHOT_INTERVAL_KEY,
    SNAPSHOT_SLICE_KEY,
    ConfigError,
    Reader,
)
from kraftproof.node.storage.log import DEFAULT_SEGMENT_BYTES

SETTABLE: Final = (
    SEGMENT_BYTES_KEY,
    SNAPSHOT_BYTES_KEY,
    SNAPSHOT_INTERVAL_KEY,
    SNAPSHOT_SLICE_KEY,
    FLUSH_KEY,
    *SECURITY_KEYS,
)

Entries = Iterable[tuple[str, str]]


def refuse_unusable(entries: Entries) -> None:
    """Refuse what a node would refuse, and what a run may not set, before anything is started.

    Raises:
        ConfigError: one line that names the key.
    """
    given = dict(entries)
    if given.get(FLUSH_KEY, DURABLE) != DURABLE:
        raise ConfigError(f"{FLUSH_KEY}={given[FLUSH_KEY]}: a run can only set {DURABLE}")
    for key in given:
        if key not in SETTABLE:
            raise ConfigError(f"{key}: a run can't set that, only {', '.join(SETTABLE)}")
    refuse_security(given)
    snapshot_policy(given.items(), SnapshotPolicy())
    segment_bytes(given.items(), DEFAULT_SEGMENT_BYTES)


def live_properties(options: ClusterOptions) -> dict[str, str]:
    """Return what time-outs and settings add to the server.properties of a live node."""
    return {**properties(options.timeouts), **dict(options.node_config)}


def snapshot_settings(bytes_between: int, slice_bytes: int) -> tuple[tuple[str, str], ...]:
    """Return the settings for a snapshot after so many bytes of records, sent in such slices."""
    return ((SNAPSHOT_BYTES_KEY, str(bytes_between)), (SNAPSHOT_SLICE_KEY, str(slice_bytes)))


def snapshot_policy(entries: Entries, otherwise: SnapshotPolicy) -> SnapshotPolicy:
    """Return when nodes write snapshots; what is not set is as it would be otherwise."""
    return read_snapshots(Reader(dict(entries)), otherwise)


def segment_bytes(entries: Entries, otherwise: int) -> int:
    """Return how large segments grow, in bytes."""
    return read_segment_bytes(Reader(dict(entries)), otherwise)
