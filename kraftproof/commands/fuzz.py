"""`kraftproof fuzz`: send random and half-right frames to a cluster, and watch its nodes."""

import re
import time
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof import interrupts
from kraftproof.cluster.backends import BACKENDS
from kraftproof.errors import UsageError
from kraftproof.mutants.installation import install_mutant
from kraftproof.option_files import refuse_path
from kraftproof.options import NODES_HELP, PAIR
from kraftproof.output import in_one_line, print_error, print_line, print_verdict
from kraftproof.spelling import nearest

if TYPE_CHECKING:
    from kraftproof.fuzz.campaign import Finding
    from kraftproof.fuzz.session import FuzzOptions

FRAMES = 20_000
MOST_NODES = 32
REPORTED_FRAMES = 100_000
"""Frames between two lines of progress."""
_PLACE = re.compile(r"([^\s:,]+|\[[0-9a-fA-F:]+\]):([0-9]{1,5})")


def fuzz(
    *,
    backend: Annotated[str, typer.Option(help="local, docker or simulated.")] = "local",
    bootstrap: Annotated[
        str | None,
        typer.Option(
            help="HOST:PORT[,HOST:PORT] of brokers that stand already.",
            show_default="a fresh cluster",
        ),
    ] = None,
    nodes: Annotated[str, typer.Option(help=NODES_HELP)] = PAIR,
    seed: Annotated[int, typer.Option(help="Seed of the frames.")] = 0,
    frames: Annotated[int, typer.Option(help="Number of frames to send.")] = FRAMES,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which no further frame is sent.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Send the frames of a case file instead of random ones.")
    ] = None,
    mutant: Annotated[
        str | None,
        typer.Option(help="Bug to plant in the nodes: a catalogue id, or a Python file."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File of the shrunk case.", show_default="store/fuzz-SEED.json"),
    ] = None,
) -> None:
    """Send random frames to a cluster until a node or an answer is wrong.

    [bold]kraftproof fuzz --frames 20000[/]
    Starts 3+3 local processes and sends well-formed and half-right requests.

    [bold]kraftproof fuzz --replay store/fuzz-0.json[/]
    Sends the frames of a finding again.

    The command checks that each request is answered once, in order, in its
    version and in time, that each node lives and takes at most 30 MB more
    memory, and that an honest client is served in between. A finding is shrunk
    on fresh clusters and written to a file.

    With --bootstrap the frames create and delete topics of a cluster that
    stands already: never name a cluster that anybody needs.

    Exit codes: 0 nothing found, 1 a finding, 2 fewer frames than asked for were
    sent, 3 wrong usage or input, 130 interrupted.
    """
    if backend not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise UsageError(
            f"--backend {backend}{nearest(backend, BACKENDS)}: one of {known} is expected"
        )
    if frames < 1:
        raise UsageError(f"--frames {frames}: 1 or more is expected")
    if time_limit is not None and not time_limit > 0:
        raise UsageError(f"--time-limit {time_limit:g}: more than 0 is expected")
    if bootstrap is not None and mutant is not None:
        raise UsageError("--mutant: can't be planted in the nodes of --bootstrap")
    places = () if bootstrap is None else _places(bootstrap)
    if replay is not None and mutant is None and bootstrap is None:
        mutant = _mutant_of(replay)
    install_mutant(mutant, backend)
    from kraftproof.fuzz.session import FuzzOptions

    options = FuzzOptions(
        backend=backend,
        nodes=nodes,
        seed=seed,
        frames=frames,
        time_limit_s=time_limit,
        mutant=mutant,
        places=places,
    )
    refuse_path("--out", out)
    if replay is not None:
        raise typer.Exit(_replay(options, replay))
    raise typer.Exit(_fuzz(options, out or Path("store") / f"fuzz-{seed}.json"))


def _places(text: str) -> tuple[tuple[str, int], ...]:
    """Return host and port of each address of a list.

    Raises:
        UsageError: an address has not the form HOST:PORT.
    """
    found = []
    for part in text.split(","):
        match = _PLACE.fullmatch(part.strip())
        if match is None or not 0 < int(match[2]) < 1 << 16:
            raise UsageError(f"--bootstrap {text}: HOST:PORT[,HOST:PORT] is expected")
        found.append((match[1].strip("[]"), int(match[2])))
    return tuple(found)


def _mutant_of(path: Path) -> str | None:
    """Return the mutant of a case file; the node must not be imported before."""
    import json

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # read_case says what is wrong
    mutant = content.get("mutant") if isinstance(content, dict) else None
    return mutant if isinstance(mutant, str) else None


def _fuzz(options: "FuzzOptions", out: Path) -> int:
    from kraftproof.fuzz.campaign import Progress
    from kraftproof.fuzz.session import campaign

    progress, reported, started = Progress(), [0], time.process_time()

    def tell(frames: int) -> None:
        interrupts.note(f"{frames} frames were sent without a finding; the cluster is stopped")
        if frames - reported[0] >= REPORTED_FRAMES:
            reported[0] = frames
            print_error(f"{frames} frames, {time.process_time() - started:.0f} CPU-s of the sender")

    interrupts.note("the cluster is stopped")
    finding = campaign(options, progress, tell)
    if finding is not None:
        return _report(options, finding, out)
    is_whole = progress.frames >= options.frames
    print_verdict(
        "valid" if is_whole else "unknown",
        f"  {progress.frames} frames on {progress.connections} connections, seed {options.seed}, "
        f"at most {progress.grown_bytes / 2**20:.1f} MB more memory in a node, "
        f"{time.process_time() - started:.1f} CPU-s of the sender",
    )
    return 0 if is_whole else 2


def _report(options: "FuzzOptions", finding: "Finding", out: Path) -> int:
    """Shrink a finding, write its file and print its line."""
    from kraftproof.cluster.systems.reference.requests.case_file import CaseFile, write_case
    from kraftproof.fuzz.session import smaller

    out.parent.mkdir(parents=True, exist_ok=True)
    content = CaseFile(case=finding.case, finding=finding.reason, mutant=options.mutant)
    write_case(out, content)
    print_error(f"found: {finding.reason}; shrinking {len(finding.case.sends)} frames")
    interrupts.note(f"the case is in {out}")
    case = smaller(replace(options, time_limit_s=None), finding)
    write_case(out, CaseFile(case=case, finding=finding.reason, mutant=options.mutant))
    print_line(_line(options, finding, len(case.sends), out))
    return 1


def _replay(options: "FuzzOptions", path: Path) -> int:
    from kraftproof.cluster.systems.reference.requests.case_file import CaseFileError, read_case
    from kraftproof.fuzz.session import replay

    try:
        case = read_case(path).case
    except CaseFileError as error:
        raise UsageError(f"--replay {error}") from error
    if any(node > MOST_NODES for node in case.nodes):
        raise UsageError(f"--replay {path}: names node {max(case.nodes)}")
    finding = replay(options, case)
    if finding is None:
        print_verdict("valid", f"  {len(case.sends)} frames of {path}")
        return 0
    print_line(_line(options, finding, len(case.sends), path))
    return 1


def _line(options: "FuzzOptions", finding: "Finding", frames: int, path: Path) -> str:
    where = f"node {finding.node_id}" if finding.node_id else "cluster"
    command = ["kraftproof", "fuzz", "--replay", str(path)]
    if options.backend != "local":
        command += ["--backend", options.backend]
    if options.nodes != PAIR:
        command += ["--nodes", options.nodes]
    return in_one_line(f"{where}: {finding.reason} ({frames} frames); replay: {join(command)}")
