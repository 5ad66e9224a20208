"""The drawn shape of a simulated cluster: listeners, time-outs and the policy of snapshots.

Each part of the shape is drawn from randomness of its own; see world.py.
"""

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, NodeInfo
from kraftproof.cluster.systems.reference import node_config
from kraftproof.cluster.systems.reference.timeouts import timeouts
from kraftproof.node.core.base.config import (
    AuthorizerPolicy,
    Endpoint,
    ReplicationPolicy,
    SnapshotPolicy,
    Timeouts,
)
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.principal import ANONYMOUS

PORT = 9092
AUTHORIZER_SHARE = 0.15
"""Share of runs whose nodes have an authorizer."""
AUTHORIZER_LABEL = "authorizer-106"
"""Source of the draw; by this label the seeds recorded for older mutants get no authorizer."""
OTHER_PORT = 9192
LISTENERS_SHARE = 0.25
"""Share of runs whose nodes have two listeners, of names that are not the defaults."""
REGISTRATION_TIMEOUTS_MS = (60_000, 60_000, 15_000)
"""Times for the registration of a starting broker, of which a run has one."""
SNAPSHOT_BYTES = (20 << 20, 20 << 20, 1500, 6000, 24_000, 100_000)
SNAPSHOT_INTERVALS_MS = (3_600_000, 3_600_000, 3_000)
DIRECTORY_TIMEOUTS_MS = (30_000, 3_000)
"""Values of log.dir.failure.timeout.ms, of which a run has one."""
LAGS_MS = (1_000, 3_000)
"""Values of replica.lag.time.max.ms, of which a run has one."""
FETCH_WAITS_MS = (50, 500)
FETCH_BYTES = (1, 500, 1 << 20)
"""Values of replica.fetch.max.bytes; a small value fetches one batch at a time."""
RETENTION_INTERVALS_MS = (300_000, 5_000, 2_000)
"""Values of log.retention.check.interval.ms."""
SLICE_BYTES = (300, 4000, 1 << 20)


def draw_timeouts(profile: str, random: Random) -> Timeouts:
    """Return the time-outs of a profile, with drawn times for registrations and directories."""
    wait_ms = random.choice(REGISTRATION_TIMEOUTS_MS)
    unheard_ms = random.choice(DIRECTORY_TIMEOUTS_MS)
    return replace(
        timeouts(profile),
        initial_registration_ns=milliseconds(wait_ms),
        directory_failure_ns=milliseconds(unheard_ms),
    )


def voter_addresses(nodes: Sequence[NodeInfo]) -> tuple[tuple[int, str, int], ...]:
    """Return id, host and port of each voter."""
    return tuple((info.node_id, info.name, PORT) for info in nodes if info.has("controller"))


def listener_name(role: str, *, has_listeners: bool) -> str:
    """Return the name of a node's first listener of a role."""
    if role == "controller":
        return "QUORUM" if has_listeners else "CONTROLLER"
    return "CLIENTS" if has_listeners else "PLAINTEXT"


def endpoints_of(info: NodeInfo, *, has_listeners: bool) -> tuple[Endpoint, ...]:
    """Return the listeners of a node; clients and peers use the first, by the node's id."""
    is_controller = info.has("controller")
    name = listener_name("controller" if is_controller else "broker", has_listeners=has_listeners)
    names = {name: PORT} | ({f"OTHER-{name}": OTHER_PORT} if has_listeners else {})
    return tuple(
        Endpoint(name=each, host=info.name, port=port, is_controller=is_controller)
        for each, port in names.items()
    )


def draw_replication(options: ClusterOptions) -> ReplicationPolicy:
    """Return the rules of the data plane; the times are short, as those of the chaos profile."""
    random = Random(f"{options.seed}/replication")
    return ReplicationPolicy(
        is_enabled=options.has_data,
        lag_ns=milliseconds(random.choice(LAGS_MS)),
        fetch_wait_ms=random.choice(FETCH_WAITS_MS),
        fetch_partition_bytes=random.choice(FETCH_BYTES),
        fetch_backoff_ns=milliseconds(200),
        request_timeout_ns=milliseconds(2_000),
        retention_interval_ns=milliseconds(random.choice(RETENTION_INTERVALS_MS)),
    )


def draw_authorizer(seed: int) -> AuthorizerPolicy | None:
    """Return the rules of the authorizer, in a share of the runs.

    The nodes and most clients are super users, so that the run goes on whatever the entries say.
    """
    random = Random(f"{seed}/{AUTHORIZER_LABEL}")
    if random.random() >= AUTHORIZER_SHARE:
        return None
    super_user = f"{ANONYMOUS.type}:{ANONYMOUS.name}"
    return AuthorizerPolicy(super_users=(super_user,), allows_without_acl=random.random() < 0.2)


def draw_snapshots(options: ClusterOptions, random: Random) -> SnapshotPolicy:
    """Draw the snapshot policy: frequent, rare or no snapshots, in one or many slices.

    The settings of the run override the drawn values.
    """
    drawn = SnapshotPolicy(
        bytes_between=random.choice(SNAPSHOT_BYTES),
        interval_ns=milliseconds(random.choice(SNAPSHOT_INTERVALS_MS)),
        slice_bytes=random.choice(SLICE_BYTES),
    )
    return node_config.snapshot_policy(options.node_config, drawn)
