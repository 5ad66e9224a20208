"""Stories of snapshots and truncations: faults at a moment of a node's work.

A node with a lost log, or behind the start of the leader's log, copies a snapshot. A leader without
voters appends records unknown to the successor, and truncates the records after the return. See
stories.py for the selection.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from kraftproof.cluster.capabilities import CrashAim, CrashMoment, DiskFault, LinkFault
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.aimed_crash import AimedCrash, draw_aim, draw_operations
from kraftproof.nemesis.degrade import Stall
from kraftproof.nemesis.disk import SlowDisk, Wipe
from kraftproof.nemesis.fault import Target
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.restart import Restart
from kraftproof.nemesis.scenarios.steps import (
    ACTIVE,
    ALL_STANDBYS,
    MOST_STANDBYS,
    FaultStep,
    in_order,
    standby,
)

MS_NS = 1_000_000
COPYING: tuple[CrashMoment, ...] = ("copying-snapshot", *("installing-snapshot",) * 2)
COPY_S = 5.0
"""Longest wait of a story for the copy of a snapshot, in seconds."""


def leader_dies_while_serving(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader dies while a node copies the snapshot, so a copy from the successor follows."""
    _, back_s, steps = _needs_snapshot(random, nodes)
    aim = CrashAim(
        moment="serving-snapshot",
        operations=random.randrange(4),
        loses_power=random.random() < 0.5,
    )
    until_s = back_s + random.uniform(1.0, COPY_S)
    return in_order([*steps, (max(0.0, back_s - 0.1), until_s, AimedCrash(target=ACTIVE, aim=aim))])


def copier_dies(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The copier dies between two operations of the disk, amid the copy or the installation."""
    copier, back_s, steps = _needs_snapshot(random, nodes)
    moment = random.choice(COPYING)
    until_s = back_s + random.uniform(1.0, COPY_S)
    crash = AimedCrash(target=copier, aim=draw_aim(random, moment))
    return in_order([*steps, (0.0, until_s, crash)])


def slow_copy(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The copy and the check of a snapshot take longer than the fetch time-out."""
    copier, back_s, steps = _needs_snapshot(random, nodes)
    until_s = back_s + random.uniform(3.0, 2 * COPY_S)
    slow = LinkFault(slow_ns=random.choice((40, 100, 200)) * MS_NS)
    steps.append((max(0.0, back_s - 0.05), until_s, Stall(target=copier, toxic=slow)))
    if random.random() < 0.5:
        disk = DiskFault(slow_ns=random.choice((1_200, 3_000)) * MS_NS)
        steps.append((0.0, until_s, SlowDisk(target=copier, trouble=disk)))
    return in_order(steps)


def lone_copier(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The majority of the leader depends on a standby that copies the snapshot slowly.

    The other standbys of the majority are dead, so that the leader stays only because the requests
    for slices count as contact.
    """
    voters = sum(node.has("controller") for node in nodes)
    behind, back_s = random.randrange(MOST_STANDBYS), random.uniform(1.5, 4.0)
    until_s = back_s + random.uniform(4.0, 2 * COPY_S)
    slow = LinkFault(slow_ns=random.choice((20, 40, 80)) * MS_NS)
    steps: list[FaultStep] = [
        (0.0, back_s, Cut(shape="laggard", around=standby(behind))),
        (back_s, until_s, Stall(target=standby(behind), toxic=slow)),
    ]
    for other in range(1, voters // 2 + 1):
        dead_s = back_s - random.uniform(0.0, 0.2)
        steps.append((dead_s, until_s, Kill(target=standby(behind + other))))
    return in_order(steps)


def snapshot_amid_changes(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A node dies while writing a snapshot, and brokers leave and return meanwhile."""
    brokers = [node.node_id for node in nodes if node.has("broker")]
    writers: tuple[Target, ...] = (ACTIVE, standby(0), *(node.node_id for node in nodes))
    writer = random.choice(writers)
    aim = replace(draw_aim(random, "writing-snapshot"), operations=random.randrange(5))
    crash_s = random.uniform(0.0, 1.0)
    steps: list[FaultStep] = [(crash_s, crash_s + random.uniform(1.0, 3.0), _crash(writer, aim))]
    for _ in range(random.randrange(1, 4)):
        start_s = random.uniform(0.0, 2.0)
        victim = random.choice(brokers)
        away = random.choice((Restart(target=victim), Wipe(target=victim)))
        steps.append((start_s, start_s + random.uniform(0.2, 3.0), away))
    return in_order(steps)


def dies_twice_after_truncation(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A former leader dies at the truncation of the log, and again at the restart."""
    del nodes
    alone_s = random.uniform(1.3, 2.5)
    alone = Cut(shape="leader", around=ACTIVE, others=ALL_STANDBYS)
    aim = replace(draw_aim(random, "truncating"), operations_again=draw_operations(random))
    until_s = alone_s + random.uniform(1.0, 3.0)
    steps: list[FaultStep] = [(0.0, alone_s, alone), (0.0, until_s, _crash(ACTIVE, aim))]
    if random.random() < 0.5:  # a restart counts the records that are truncated later as durable
        killed_s = random.uniform(0.4, 0.8)
        steps.append((killed_s, killed_s + random.uniform(0.05, 0.3), Kill(target=ACTIVE)))
    return in_order(steps)


def _crash(target: Target, aim: CrashAim) -> AimedCrash:
    return AimedCrash(target=target, aim=aim)


def _needs_snapshot(
    random: Random, nodes: Sequence[NodeInfo]
) -> tuple[Target, float, list[FaultStep]]:
    """Return a node without the log, the time of the return, and the steps before."""
    brokers = [node.node_id for node in nodes if not node.has("controller")]
    voters = sum(node.has("controller") for node in nodes)
    if brokers and (voters < 3 or random.random() < 0.4):
        broker, back_s = random.choice(brokers), random.uniform(0.1, 0.6)
        return broker, back_s, [(0.0, back_s, Wipe(target=broker))]
    behind, back_s = standby(random.randrange(MOST_STANDBYS)), random.uniform(1.5, 4.0)
    return behind, back_s, [(0.0, back_s, Cut(shape="laggard", around=behind))]
