"""The result of a run as the last line of the command and as JSON."""

from typing import Any

from kraftproof.run.runner import RunResult

REASONS_SHOWN = 8


def last_line(result: RunResult) -> str:
    """Return the text after the verdict on the last line of `kraftproof test`."""
    found = result.figures
    if found is None:
        page = result.directory.report
        return f"  no operation was run; {page if page.is_file() else result.directory.path}"
    bitten = ", ".join(f"{count} {kind}" for kind, count in found.bitten) or "none"
    return (
        f"  {found.ok} ok ({found.quiet_ok_rate:.0f}/s when quiet, {found.ok_in_faults} during "
        f"faults), {found.fail} fail, {found.info} info; faults that bit: {bitten}; "
        f"{result.directory.report}"
    )


def reasons(result: RunResult) -> list[str]:
    """Return the first sentences of the reasons for the verdict."""
    shown = list(result.why[:REASONS_SHOWN])
    hidden = len(result.why) - len(shown)
    return shown if hidden == 0 else [*shown, f"and {hidden} more in {result.directory.report}"]


def as_json(result: RunResult) -> dict[str, Any]:
    """Return the result as a value for `--json`."""
    found = result.figures
    value: dict[str, Any] = {
        "run": str(result.directory.path),
        "verdict": result.verdict.value,
        "why": list(result.why),
        "report": str(result.directory.report),
    }
    if found is not None:
        value |= {
            "ok": found.ok,
            "fail": found.fail,
            "info": found.info,
            "ok_in_faults": found.ok_in_faults,
            "quiet_share": round(found.quiet_share, 4),
            "quiet_ok_rate": round(found.quiet_ok_rate, 3),
            "bitten": dict(found.bitten),
            "moot": found.moot,
            "failed": found.failed,
        }
    if result.simulation is not None:
        value |= {
            "events": result.simulation.events,
            "simulated_seconds": result.simulation.simulated_ns / 1e9,
            "violations": [str(violation) for violation in result.simulation.violations],
        }
    return value
