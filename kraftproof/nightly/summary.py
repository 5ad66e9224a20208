"""The summary of a night: a page in Markdown, and JUnit for the CI system."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from kraftproof.nightly.night import CONTROL, RUN, SIMULATION
from kraftproof.nightly.steps import Finding, Step

NIGHTS_SHOWN: Final = 10
PROVING: Final = frozenset({SIMULATION, RUN})
"""The kinds of steps that can show an unknown bug."""
LONGEST: Final = 300


def verdict_of(steps: Sequence[Step]) -> tuple[str, str]:
    """Return the verdict of a night, and the reason.

    A finding makes a night invalid. A night with a missed control, or without a verdict on a new
    seed or a run, is unknown.
    """
    found = sum(len(step.findings) for step in steps)
    failed = [step.name for step in steps if step.kind != CONTROL and step.verdict == "invalid"]
    missed = [step.name for step in steps if step.kind == CONTROL and step.verdict != "found"]
    proven = [step for step in steps if step.kind in PROVING and step.verdict == "valid"]
    if missed:
        return "unknown", f"not found: {', '.join(missed)}; nothing says that bugs are found"
    if failed:
        return "invalid", f"{found} findings in {', '.join(failed)}"
    if not proven:
        return "unknown", "an empty night: no step but the controls has a verdict"
    without = [step.name for step in steps if step.kind != CONTROL and step.verdict == "unknown"]
    if without:
        return "unknown", f"no verdict on {', '.join(without)}"
    return "valid", f"{len(proven)} steps valid, all controls found"


def page(
    night: int,
    day: str,
    steps: Sequence[Step],
    steps_before: Sequence[dict[str, Any]],
    findings_before: Sequence[dict[str, Any]],
) -> str:
    """Return the page in Markdown."""
    verdict, reason = verdict_of(steps)
    known: dict[str, list[int]] = {}
    for row in findings_before:
        known.setdefault(row["fingerprint"], []).append(row["night"])
    parts = [
        f"# Night {night}, {day}: {verdict}\n\n{reason[0].upper()}{reason[1:]}.\n",
        _findings(steps, known),
        _controls(steps, steps_before),
        _steps(steps),
        _availability(steps),
    ]
    return "\n".join(part for part in parts if part)


def _findings(steps: Sequence[Step], known: dict[str, list[int]]) -> str:
    lines = []
    for step in steps:
        for one in step.findings:
            nights = known.get(one.fingerprint)
            state = "new" if nights is None else f"known since night {nights[0]}"
            lines.append(_finding(step, one, state))
    return "## Findings\n\n" + "".join(lines) if lines else ""


def _finding(step: Step, one: Finding, state: str) -> str:
    again = f"reproduced {one.reproduced} of {one.repeats}" if one.repeats else "not repeated"
    report = f"\n  report: [{one.report}]({one.report})" if one.report else ""
    return (
        f"- **{one.check}** in {step.name}, {state} ({one.fingerprint}), {again}:\n"
        f"  {_short(one.sentence)}\n  `{one.command}`{report}\n"
    )


def _controls(steps: Sequence[Step], before: Sequence[dict[str, Any]]) -> str:
    lines = [
        "## Controls: seconds to find, this night and before\n\n",
        "| control | result | seconds | nights before, the latest first |\n|---|---|---|---|\n",
    ]
    for step in steps:
        if step.kind != CONTROL:
            continue
        past = [
            f"{row['seconds']:.0f}" if row["verdict"] == "found" else "missed"
            for row in reversed(before)
            if row["name"] == step.name
        ]
        told = ", ".join(past[:NIGHTS_SHOWN]) or "none"
        lines.append(f"| {step.name} | {step.verdict} | {step.seconds:.0f} | {told} |\n")
    return "".join(lines)


def _steps(steps: Sequence[Step]) -> str:
    lines = [
        "## Steps\n\n| step | verdict | seconds | ok | detail | again |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for step in steps:
        if step.kind == CONTROL:
            continue
        name = f"[{step.name}]({step.run}/report.html)" if step.run else step.name
        lines.append(
            f"| {name} | {step.verdict} | {step.seconds:.0f} | {step.ok} | {_short(step.detail)} "
            f"| `{step.command}` |\n"
        )
    return "".join(lines)


def _availability(steps: Sequence[Step]) -> str:
    lines = []
    for step in steps:
        if step.kind == RUN and step.bitten:
            faults = ", ".join(f"{count} {kind}" for kind, count in sorted(step.bitten.items()))
            share = step.ok_in_faults / step.ok if step.ok else 0.0
            lines.append(f"| {step.name} | {faults} | {step.ok_in_faults} | {share:.0%} |\n")
    if not lines:
        return ""
    head = (
        "## Availability under faults\n\n| run | faults with an effect | ok in faults | share |\n"
    )
    return f"{head}|---|---|---|---|\n{''.join(lines)}"


def write_junit(path: Path, steps: Sequence[Step]) -> None:
    """Write a test case for each step, and a test case for the night."""
    verdict, reason = verdict_of(steps)
    suite = ET.Element("testsuite", name="nightly", tests=str(len(steps) + 1))
    for step in steps:
        case = ET.SubElement(
            suite, "testcase", classname=step.kind, name=step.name, time=f"{step.seconds:.1f}"
        )
        if step.verdict in {"invalid", "missed"}:
            text = "\n".join(one.sentence for one in step.findings) or step.detail
            ET.SubElement(case, "failure", message=_short(text)).text = text
        elif step.verdict == "unknown":
            ET.SubElement(case, "error", message=_short(step.detail)).text = step.detail
    case = ET.SubElement(suite, "testcase", classname="nightly", name="the night")
    if verdict != "valid":
        ET.SubElement(case, "failure", message=_short(reason)).text = reason
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
