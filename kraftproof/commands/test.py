"""`kraftproof test`: execute a run and print its verdict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.cluster.compose_reference import absolute_system
from kraftproof.cluster.plugin_file import absolute
from kraftproof.errors import INTERRUPTED_EXIT_CODE
from kraftproof.fault_lines import kinds_of, schedule_of_file
from kraftproof.mutants.installation import install_mutant
from kraftproof.options import (
    DEFAULT_NEMESES,
    NODES_HELP,
    RunOptions,
    parse_nemeses,
    parse_node_config,
)
from kraftproof.output import print_error, print_json, print_line, print_verdict

if TYPE_CHECKING:
    from kraftproof.nemesis.schedule import Schedule

DEFAULTS = RunOptions()
DEFAULT_FAULTS = ",".join(DEFAULT_NEMESES)
NemesisOption = Annotated[
    str,
    typer.Option(
        help="Faults, comma-separated: kill, kill-all, pause, restart, stop, rolling, partition, "
        "isolate, loss, latency, reset; on live nodes taken-port, bandwidth, slow-close, "
        "limit-data and, as root, lose-unsynced, disk-full, disk-error, slow-disk; on docker also "
        "clock, clock-strobe, clock-drift, cpu, memory, lost-name; with --backend simulated also "
        "stall, wipe, failed-directory, bit-rot, aimed-crash, drift; or none; or "
        "path/to/file.py:planner. `kraftproof list faults` explains them."
    ),
]
FaultsOption = Annotated[
    Path | None,
    typer.Option(
        help="File with a line per fault in place of --nemesis: start and end in seconds, kind, "
        "fields, as in run.json.",
        metavar="FILE",
    ),
]
FaultEveryOption = Annotated[
    float | None,
    typer.Option(
        help="Seconds from the start of a fault to the next; by default chosen so that the run "
        "has enough time without faults."
    ),
]
BackendOption = Annotated[
    str, typer.Option(help="local (processes), docker (containers), ssh (hosts) or simulated.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the result as a JSON object on the last line.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the fault schedule and exit.")]
HostsOption = Annotated[
    Path | None,
    typer.Option(
        help="The file of hosts of --backend ssh: machines with sshd and sudo (docs/ssh.md).",
        metavar="FILE",
        resolve_path=True,
    ),
]
WorkloadOption = Annotated[
    str | None,
    typer.Option(
        help="topics, topic-names, registration, log, log-topics, reassignment, "
        "controlled-shutdown, configs, acls, credentials, tokens, quotas, register, append, set, "
        "queue, counter, lock or bank. `kraftproof list workloads` explains them; "
        "otherwise the first that the system serves."
    ),
]
ExpectOption = Annotated[
    str,
    typer.Option(
        help="declared: judge by the guarantees that the system declares. strict: judge every "
        "answer by the model."
    ),
]
AtOnceOption = Annotated[
    int,
    typer.Option(
        help="Largest number of faults at the same time. With more than 1, each leg of the run "
        "has a drawn subset of the faults, and one leg has none."
    ),
]
MinBitesOption = Annotated[
    int,
    typer.Option(
        help="Faults of each kind that must have an observed effect; with fewer the verdict is "
        "unknown."
    ),
]
MutantOption = Annotated[
    str | None,
    typer.Option(help="Bug to plant in the node: a catalogue id, or a Python file."),
]
SystemOption = Annotated[
    str,
    typer.Option(
        help="The system under test: a name, path/to/file.py:Class, or compose:FILE with --client."
    ),
]
ClientOption = Annotated[
    str | None,
    typer.Option(
        help="Client of the services of a Compose file: a subclass of ComposeClient.",
        metavar="FILE.py:CLASS",
    ),
]
SystemVersionOption = Annotated[
    str | None,
    typer.Option(
        help="Release of the system under test, if there is a choice: apache-kafka has 3.3.0 to "
        "4.3.0. By default the newest.",
        metavar="VERSION",
    ),
]
TimeoutsOption = Annotated[
    str, typer.Option(help="chaos (failures are detected within seconds) or default (Kafka's).")
]
NodeConfigOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Entry of server.properties on all nodes; repeatable.",
        metavar="KEY=VALUE",
    ),
]


def run_one(
    *,
    backend: BackendOption = DEFAULTS.backend,
    hosts: HostsOption = None,
    workload: WorkloadOption = None,
    nemesis: NemesisOption = DEFAULT_FAULTS,
    faults: FaultsOption = None,
    nodes: Annotated[str, typer.Option(help=NODES_HELP)] = DEFAULTS.nodes,
    time_limit: Annotated[
        float, typer.Option(help="Duration of the workload in seconds.")
    ] = DEFAULTS.time_limit_s,
    rate: Annotated[float, typer.Option(help="Operations per second.")] = DEFAULTS.rate,
    fault_every: FaultEveryOption = None,
    at_once: AtOnceOption = DEFAULTS.at_once,
    min_bites: MinBitesOption = DEFAULTS.min_bites,
    expect: ExpectOption = DEFAULTS.expect,
    concurrency: Annotated[
        int, typer.Option(help="Number of concurrent clients.")
    ] = DEFAULTS.concurrency,
    seed: Annotated[
        int, typer.Option(help="Seed of the fault schedule and the workload.")
    ] = DEFAULTS.seed,
    mutant: MutantOption = DEFAULTS.mutant,
    store: Annotated[Path, typer.Option(help="Where run directories are made.")] = DEFAULTS.store,
    engine: Annotated[str, typer.Option(help="inline or spark.")] = DEFAULTS.engine,
    system: SystemOption = DEFAULTS.system,
    client: ClientOption = None,
    system_version: SystemVersionOption = None,
    timeouts: TimeoutsOption = DEFAULTS.timeouts,
    node_config: NodeConfigOption = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a workload on a cluster under faults, and judge the recorded run.

    [bold]kraftproof test[/]
    3+3 local processes under kill -9 and pause for 30 s.

    [bold]kraftproof test --backend docker --nemesis partition,clock --time-limit 90[/]
    Docker containers under partitions and clock shifts for 90 s.

    [bold]kraftproof test --backend simulated --seed 7[/]
    A simulated cluster in virtual time: the same seed gives the same run.

    The run directory has the history, the faults, the logs of the nodes and
    report.html. Ctrl-C heals all faults and keeps the recorded part of the run;
    the verdict is then unknown.

    Exit codes: 0 valid, 1 invalid, 2 unknown, 3 wrong usage or input, 70 a bug
    in Kraftproof, 130 interrupted.
    """
    given = None if faults is None else schedule_of_file(faults)
    options = RunOptions(
        backend=backend,
        hosts=hosts,
        system=absolute_system(system, client),
        system_version=system_version,
        workload=DEFAULTS.workload if workload is None else workload,
        nemeses=_nemeses(nemesis, given),
        faults_file=faults,
        nodes=nodes,
        time_limit_s=time_limit,
        rate=rate,
        fault_every_s=fault_every,
        at_once=at_once,
        min_bites=min_bites,
        expect=expect,
        concurrency=concurrency,
        seed=seed,
        mutant=mutant,
        store=store,
        engine=engine,
        timeouts=timeouts,
        node_config=parse_node_config(node_config or ()),
    )
    mutant_hash = install_mutant(mutant, backend)
    options = _with_default_workload(options) if workload is None else options
    raise typer.Exit(run_test(options, mutant_hash, given, dry_run=dry_run, as_json=as_json))


def _with_default_workload(options: RunOptions) -> RunOptions:
    """Import the system to see its workloads; a mutant has to be installed before."""
    from kraftproof.run.planning import with_default_workload

    return with_default_workload(options)


def _nemeses(listed: str, given: "Schedule | None") -> tuple[str, ...]:
    """Return the kinds of the faults: as listed, or those of a file of faults."""
    return tuple(map(absolute, parse_nemeses(listed))) if given is None else kinds_of(given)


def run_test(
    options: RunOptions,
    mutant_hash: str | None,
    given: "Schedule | None" = None,
    *,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Execute the run, print its verdict and return the exit code."""
    from kraftproof.quick_start import without_pandas
    from kraftproof.run.planning import foreseen, plan, preflight

    if options.engine != "spark" and not dry_run:
        without_pandas()
    schedule = plan(options, given)
    for sentence in foreseen(schedule, options):
        print_error(f"kraftproof: {sentence}")
    if dry_run:
        for scheduled in schedule:
            print_line(scheduled.describe())
        return 0
    preflight(options)
    return _run(options, schedule, mutant_hash, as_json=as_json)


def _run(
    options: RunOptions, schedule: "Schedule", mutant_hash: str | None, *, as_json: bool
) -> int:
    from kraftproof.run.summary import as_json as result_json
    from kraftproof.run.summary import last_line, reasons
    from kraftproof.running import run_and_report

    result, phases = run_and_report(options, schedule, mutant_hash)
    if result.exit_code != INTERRUPTED_EXIT_CODE:
        for sentence in reasons(result):
            print_line(f"  {sentence}")
        if not as_json:
            print_verdict(result.verdict.value, last_line(result))
    if as_json:
        print_json(result_json(result) | {"phases": phases})
    return result.exit_code
