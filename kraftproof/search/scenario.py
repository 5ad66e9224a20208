"""Draw the scenario of a seed of `kraftproof sim`; the scenario never depends on the mutant.

See seeds.py for the execution of scenarios.
"""

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from random import Random

from kraftproof.cluster.systems.kafka.durability import DURABLE, FLUSH_KEY
from kraftproof.cluster.systems.reference.node_config import snapshot_settings
from kraftproof.cluster.systems.registry import make_system
from kraftproof.errors import UsageError
from kraftproof.nemesis.fault import strange_nodes
from kraftproof.nemesis.schedule import Schedule, Scheduled, dense, stories
from kraftproof.nemesis.schedule_file import ScheduleFileError, parse_fault_line
from kraftproof.options import RunOptions
from kraftproof.run.planning import cluster_options, refuse_workload
from kraftproof.search.defaults import TIME_LIMIT_S
from kraftproof.search.schedule_file import ScheduleText
from kraftproof.workloads.catalogue import SELDOM, make_workload

TOPICS_SHARE = 0.65
OTHERS_SHARE = 0.3
"""Share of the seeds of a search for a mutant with a workload of SELDOM, drawn apart."""
OTHERS_LABEL = "workload-95479"
"""Source of that draw; by this label the seeds recorded for older mutants keep their workload."""
TOPOLOGIES = (
    *((3, 3),) * 5,
    *((3, 1), (3, 2), (3, 2)),
    *((5, 1),) * 4,
    (5, 3),
    *((1, 2),) * 2,
)
"""Controllers and brokers; repeated pairs have a larger weight. Some bugs need 1 or 5 voters."""
RARE_SHARE = 0.15
"""Share of seeds with a topology of RARE_TOPOLOGIES, drawn apart."""
RARE_TOPOLOGIES = ((2, 1), (2, 2), (4, 1), (4, 2), (5, 2), (1, 1))
"""Controllers and brokers: even numbers of voters, and the smallest cluster."""
DEFAULT_TIMEOUTS_SHARE = 0.04
"""Share of seeds with the default time-outs of nodes, drawn apart."""
RATES = (2.0, 5.0, 10.0, 20.0)
CONCURRENCIES = (2, 5, 10)
MIXES = (
    ("partition", "pause"),
    ("partition", "pause", "clock", "restart"),
    ("kill", "partition", "pause"),
    ("kill", "partition", "pause", "clock"),
    ("kill", "partition"),
    ("kill", "partition", "pause", "restart"),
    ("pause", "clock"),
    ("kill-all", "lose-unsynced", "partition"),
    ("lose-unsynced", "kill", "partition"),
    ("clock", "partition", "kill"),
    ("restart", "partition", "pause"),
    ("kill", "partition", "pause", "clock", "lose-unsynced", "restart", "kill-all"),
)
EXTRAS = (
    "loss",
    "reset",
    "stall",
    "disk-full",
    "disk-error",
    "slow-disk",
    "wipe",
    "clock-strobe",
    "drift",
)
STORY_SHARE = 0.15
"""Share of seeds whose schedule consists of stories; the other seeds keep their schedules."""
SNAPSHOT_BYTES = (400, 1000, 3000)
SLICE_BYTES = (60, 200, 1000)
"""Bytes between snapshots, and of a slice, in seeds with stories."""
ROT_SHARE = 0.08
"""Share of seeds with bit rot, drawn apart so that the other seeds keep their schedules."""
DIRECTORIES_SHARE = 0.15
"""Share of seeds with several log directories, of which one fails; only with replicas."""
EXTRA_SHARE = 0.4
"""Share of seeds with additional nemeses of EXTRAS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A simulated run: options and fault schedule, from a seed or from a schedule file."""

    options: RunOptions
    schedule: Schedule
    name: str
    """Name of the run directory, if the directory is kept."""

    def describe(self) -> str:
        """Return the options of the run in one line."""
        options = self.options
        return (
            f"{options.workload:<12} {options.controllers}+{options.brokers} "
            f"{options.time_limit_s:>4g} s {options.rate:>3g}/s {','.join(options.nemeses)}"
        )


def scenario(
    seed: int,
    store: Path,
    *,
    mutant: str | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    nodes: tuple[int, int] | None = None,
    workload: str | None = None,
) -> Scenario:
    """Return the scenario of a seed; given nodes and a given workload override the drawn ones.

    Each seed draws `topics` or `registration`. With a mutant, a share of the seeds draws another
    workload: a search for a bug goes on until a property is violated, wherever the bug may be.

    Raises:
        UsageError: the simulated nodes do not serve the workload.
    """
    random = Random(f"scenario {seed}")
    drawn_nodes = random.choice(TOPOLOGIES)
    shape = Random(f"scenario {seed} shape")
    if shape.random() < RARE_SHARE:
        drawn_nodes = shape.choice(RARE_TOPOLOGIES)
    controllers, brokers = drawn_nodes if nodes is None else nodes
    drawn_workload = "topics" if random.random() < TOPICS_SHARE else "registration"
    if workload is not None:
        _refuse_unknown(workload)
    elif mutant is not None:
        workload = _draw_other(Random(f"scenario {seed} {OTHERS_LABEL}"))
    options = RunOptions(
        backend="simulated",
        workload=workload or drawn_workload,
        nemeses=_without_wipes(
            workload,
            _each_once(
                _own_faults(workload),
                random.choice(MIXES),
                _draw_extras(Random(f"scenario {seed} extras")),
                _draw_rot(Random(f"scenario {seed} bit-rot")),
                _draw_directories(workload, Random(f"scenario {seed} log.dirs")),
            ),
        ),
        nodes=f"{controllers}+{brokers}",
        time_limit_s=time_limit_s,
        rate=random.choice(RATES),
        concurrency=random.choice(CONCURRENCIES),
        timeouts="default" if shape.random() < DEFAULT_TIMEOUTS_SHARE else "chaos",
        seed=seed,
        mutant=mutant,
        store=store,
        engine="inline",
        node_config=((FLUSH_KEY, DURABLE),) if has_data(workload) else (),
    )
    random = Random(f"scenario {seed} aims")
    if random.random() < STORY_SHARE and not has_data(workload):
        return _with_stories(options, random)
    schedule = dense(
        options.nemeses,
        cluster_options(options, None).nodes,
        Random(f"schedule {seed}"),
        options.time_limit_ns,
    )
    return Scenario(options=options, schedule=schedule, name=f"seed{seed}")


def _draw_other(random: Random) -> str | None:
    """Return a workload of SELDOM in a share of the seeds."""
    return random.choice(SELDOM) if random.random() < OTHERS_SHARE else None


def _refuse_unknown(workload: str) -> None:
    try:
        make_workload(workload)
    except ValueError as error:
        raise UsageError(str(error)) from error
    refuse_workload(workload, make_system(RunOptions().system))


def has_data(workload: str | None) -> bool:
    """Return whether a given workload produces records."""
    return workload is not None and bool(getattr(make_workload(workload), "has_data", False))


def _own_faults(workload: str | None) -> tuple[str, ...]:
    """Return the kinds of faults that a given workload always has."""
    own: tuple[str, ...] = getattr(make_workload(workload), "faults", ()) if workload else ()
    return own


def _without_wipes(workload: str | None, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the kinds of faults, without wipes for workloads that produce records.

    A wiped broker comes back as a member of its ISRs without their records, as in Kafka without
    eligible leader replicas (KIP-966).
    """
    if not has_data(workload):
        return kinds
    return tuple(kind for kind in kinds if kind != "wipe") or ("kill",)


def _with_stories(options: RunOptions, random: Random) -> Scenario:
    """Return a scenario of stories, with nodes that write snapshots often and send small slices."""
    settings = snapshot_settings(random.choice(SNAPSHOT_BYTES), random.choice(SLICE_BYTES))
    nodes = cluster_options(options, None).nodes
    schedule = stories(nodes, random, options.time_limit_ns)
    kinds = tuple(dict.fromkeys(one.kind for one in schedule))
    options = replace(options, nemeses=kinds, node_config=settings)
    return Scenario(options=options, schedule=schedule, name=f"seed{options.seed}")


def _each_once(*groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def _draw_rot(random: Random) -> tuple[str, ...]:
    return ("bit-rot",) if random.random() < ROT_SHARE else ()


def _draw_directories(workload: str | None, random: Random) -> tuple[str, ...]:
    is_drawn = random.random() < DIRECTORIES_SHARE
    return ("failed-directory",) if is_drawn and has_data(workload) else ()


def _draw_extras(random: Random) -> tuple[str, ...]:
    if random.random() >= EXTRA_SHARE:
        return ()
    extras = random.sample(EXTRAS, random.choice((1, 2, 2, 3, len(EXTRAS))))
    if "disk-error" in extras:  # data of a failed write is only missing after a power failure
        extras.append("lose-unsynced")
    return tuple(extras)


def from_schedule(options: RunOptions, text: ScheduleText) -> Scenario:
    """Return the scenario of a schedule file with the options of its header.

    Raises:
        UsageError: a line is no fault, or names an unknown node; the message names the line.
    """
    try:
        make_workload(options.workload)
        refuse_workload(options.workload, make_system(options.system))
    except ValueError as error:
        raise text.mistake(text.header["workload"][0], str(error)) from error
    nodes = cluster_options(options, None).nodes
    schedule: list[Scheduled] = []
    for number, line in text.faults:
        try:
            one = parse_fault_line(line, f"f{len(schedule)}")
        except ScheduleFileError as error:
            raise text.mistake(number, str(error)) from error
        strange = strange_nodes(one.fault, nodes)
        if strange:
            raise text.mistake(number, f"node {strange[0]}: the nodes are 1 to {len(nodes)}")
        schedule.append(one)
    kinds = tuple(dict.fromkeys(one.kind for one in schedule))
    options = replace(options, nemeses=kinds)
    return Scenario(options=options, schedule=tuple(schedule), name=text.path.stem)
