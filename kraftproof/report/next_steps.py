"""Commands to copy from a report: explain, replay and shrink a run."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import Any, Final

from kraftproof.cluster.remote.output import OUTPUT_NAME
from kraftproof.cluster.remote.output_limit import KEPT_BYTES, left_out_bytes
from kraftproof.options import RunOptions
from kraftproof.report.run_view import RunView
from kraftproof.run.directory import SCHEDULE_FILE

MISTAKE_FILE: Final = "plugin-error.txt"
"""File of a run directory with the traceback of a plug-in's error, if any."""
_VALUE_OPTIONS: Final = {
    "backend": "--backend",
    "system": "--system",
    "system_version": "--system-version",
    "workload": "--workload",
    "time_limit_s": "--time-limit",
    "rate": "--rate",
    "concurrency": "--concurrency",
    "seed": "--seed",
    "mutant": "--mutant",
    "engine": "--engine",
    "timeouts": "--timeouts",
    "expect": "--expect",
    "hosts": "--hosts",
    "faults_file": "--faults",
    "fault_every_s": "--fault-every",
    "at_once": "--at-once",
    "min_bites": "--min-bites",
}
"""Options of `kraftproof test`, by their names in run.json."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command and its purpose."""

    purpose: str
    command: str


def next_steps(view: RunView, *, is_invalid: bool) -> list[Step]:
    """Return the commands for a run, the most useful first."""
    path = str(view.directory.path)
    steps = [Step(purpose="replay", command=replay_command(view))]
    if is_invalid:
        steps.insert(0, Step(purpose="explain", command=join(["kraftproof", "explain", path])))
        if not is_of_search(view):
            again = join(["kraftproof", "replay", path])
            steps.append(Step(purpose="count how often it fails", command=again))
        steps.append(Step(purpose="shrink", command=join(["kraftproof", "shrink", path])))
    steps.append(Step(purpose="check again", command=join(["kraftproof", "check", path])))
    return steps


def is_of_search(view: RunView) -> bool:
    """Return whether a search kept the run; such a directory has a schedule file."""
    return (view.directory.path / SCHEDULE_FILE).is_file()


def replay_command(view: RunView) -> str:
    """Return the command that replays the run."""
    if is_of_search(view):
        schedule = str(view.directory.path / SCHEDULE_FILE)
        return join(["kraftproof", "sim", "--schedule", schedule])
    return join(["kraftproof", "test", *_options(view.options)])


def _options(options: dict[str, Any]) -> Iterator[str]:
    """Yield the options of `kraftproof test` that differ from the defaults."""
    defaults = RunOptions()
    for name, option in _VALUE_OPTIONS.items():
        value = options.get(name)
        if name == "seed" or value not in {None, getattr(defaults, name)}:
            yield from (option, f"{value:g}" if isinstance(value, float) else str(value))
    nemeses = options.get("nemeses", [])
    if tuple(nemeses) != defaults.nemeses and options.get("faults_file") is None:
        yield from ("--nemesis", ",".join(nemeses) or "none")
    if options.get("nodes"):
        yield from ("--nodes", options["nodes"])
    for name, value in options.get("node_config", {}).items():
        yield from ("--node-config", f"{name}={value}")


def files_of(view: RunView, node: str | None) -> list[Path]:
    """Return the files of a node, or of all nodes without a node; hidden files are our own."""
    nodes = view.directory.path / "nodes"
    own = nodes / str(node)
    looked = [own] if node is not None and own.is_dir() else sorted(nodes.glob("*"))
    found = [file for folder in looked for file in sorted(folder.glob("[!.]*")) if file.is_file()]
    mistake = view.directory.path / MISTAKE_FILE
    return [mistake, *found] if mistake.is_file() else found


def cut_outputs(view: RunView) -> list[str]:
    """Return a sentence for each node whose output was cut, because it became too long."""
    found = []
    for node in sorted((view.directory.path / "nodes").glob("*")):
        output = node / OUTPUT_NAME
        left_out = left_out_bytes(output) if output.is_file() else 0
        if left_out:
            found.append(
                f"node {node.name}: {left_out} bytes in the middle of {OUTPUT_NAME} were left out; "
                f"a line in the file shows where, after the first {KEPT_BYTES >> 20} MiB"
            )
    return found
