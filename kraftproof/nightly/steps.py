"""Do a step of a night: a command of Kraftproof in a separate process, with a JSON result.

A crash or a hang of a step costs only the result of the step.
"""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

import msgspec

KRAFTPROOF: Final = (sys.executable, "-m", "kraftproof")
LONGEST_S: Final = 3600.0
INTERRUPTED: Final = 130
LAST_LINES: Final = 3


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of a night.

    Attributes:
        fingerprint: Equal for findings of a check on a system with a difference in numbers only.
        check: The name of the check.
        sentence: The finding in words.
        command: The command for another run.
        report: The path of the report; empty for a seed of the simulation without a run directory.
        reproduced: The number of repeated runs with a finding of the check.
        repeats: The number of repeated runs.
    """

    fingerprint: str
    check: str
    sentence: str
    command: str
    report: str = ""
    reproduced: int = 0
    repeats: int = 0


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a step.

    Attributes:
        kind: control, simulation or run.
        name: The name of the step.
        verdict: valid, invalid or unknown; for a control: found or missed.
        seconds: The duration; for a control the time to find, in CPU seconds for a mutant.
        command: The command line.
        detail: A line about the result.
        findings: The findings.
        run: The run directory; empty without one.
        ok: Number of successful operations; for a simulation the number of judged seeds.
        ok_in_faults: Number of successful operations during faults.
        bitten: The number of faults with an effect, by kind.
    """

    kind: str
    name: str
    verdict: str
    seconds: float
    command: str
    detail: str = ""
    findings: tuple[Finding, ...] = ()
    run: str = ""
    ok: int = 0
    ok_in_faults: int = 0
    bitten: dict[str, int] = {}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a command: the objects of the JSON lines, and the end of the text."""

    status: int
    lines: tuple[dict[str, Any], ...]
    seconds: float
    said: str

    @property
    def last(self) -> dict[str, Any]:
        """The last object; empty if the command printed none."""
        return self.lines[-1] if self.lines else {}


def carried_out(arguments: Sequence[str], limit_s: float = LONGEST_S) -> Outcome:
    """Run a command of Kraftproof to the end, or for the limit at most.

    Raises:
        KeyboardInterrupt: the command was interrupted.
    """
    begun_s = time.monotonic()
    process = subprocess.Popen(
        [*KRAFTPROOF, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate()
        err += f"\nended after {limit_s:g} s"
    except KeyboardInterrupt:
        process.wait()  # the terminal has interrupted the command, too
        raise
    if process.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    said = (err.strip() or out.strip()).splitlines()
    return Outcome(
        status=process.returncode,
        lines=tuple(_objects(out)),
        seconds=time.monotonic() - begun_s,
        said=" / ".join(said[-LAST_LINES:]),
    )


def command_line(arguments: Sequence[str]) -> str:
    """Return a command as a user types it."""
    return shlex.join(("kraftproof", *arguments))


def _objects(text: str) -> list[dict[str, Any]]:
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
    return found
