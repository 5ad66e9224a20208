"""Runs to analyse: faults, gaps, an invalid one, an unreadable one; and an analysis of them."""

import json
from pathlib import Path

from kraftproof.checkers.sources import find_sources
from tests.checkers.conftest import event_lines

SECOND = 1_000_000_000


def register_events(*, start_s, steps, process=0, key="x", f="write"):
    """Operations of 10 ms, one a step; a step is (seconds from the start, value, status)."""
    events = []
    for at_s, value, status in steps:
        at = round((start_s + at_s) * SECOND)
        told = {"process": process, "f": f, "key": key}
        answer = {"error": "REQUEST_TIMED_OUT"} if status == "info" else {}
        events.append(told | {"type": "invoke", "value": value, "time": at})
        events.append(told | answer | {"type": status, "value": value, "time": at + 10_000_000})
    return events


def fault_events(*faults):
    """Lines of faults.jsonl: (name, kind, applied at, healed at), in seconds."""
    events = []
    for name, kind, applied_s, healed_s in faults:
        phases = [("intent", applied_s), ("applied", applied_s), ("bitten", applied_s + 0.1)]
        if healed_s is not None:
            phases.append(("healed", healed_s))
        events += [
            {"fault": name, "kind": kind, "phase": phase, "time": round(at * SECOND)}
            | {"targets": [1], "detail": None}
            for phase, at in phases
        ]
    events.sort(key=lambda event: event["time"])
    return [{"index": index} | event for index, event in enumerate(events)]


def write_run(folder: Path, events, faults=(), *, started="2026-01-01", workload="registers"):
    folder.mkdir(parents=True)
    run = {
        "schema_version": 1,
        "started": started,
        "system": "reference",
        "workload": {"name": workload, "model": "cas-register"},
        "options": {"backend": "simulated", "seed": 7},
    }
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "history.jsonl").write_text(event_lines(events))
    (folder / "faults.jsonl").write_text("".join(json.dumps(event) + "\n" for event in faults))
    return folder


def steady(seconds, *, without=(), every_s=0.5):
    """Steps of a writer that is ok at every half second, but for some stretches."""
    times = [number * every_s for number in range(round(seconds / every_s))]
    kept = [at for at in times if not any(low <= at < high for low, high in without)]
    return [(at, number, "ok") for number, at in enumerate(kept)]


def some_runs(folder: Path) -> list[Path]:
    """A quiet run, one with faults and gaps, an invalid one, one that ends amid a line."""
    quiet = register_events(start_s=1, steps=steady(20))
    gap = register_events(start_s=1, steps=steady(30, without=[(5.2, 8.2), (20.2, 22.2)]))
    timed_out = register_events(start_s=1, steps=[(6.0, 99, "info")], process=1)
    faulty = sorted(gap + timed_out, key=lambda event: event["time"])
    faults = fault_events(
        ("f0", "kill", 6.0, 8.0), ("f1", "pause", 7.0, 9.0), ("f2", "pause", 25, None)
    )
    stale = quiet + register_events(start_s=30, steps=[(0, 3, "ok")], f="read")
    truncated = write_run(folder / "truncated", quiet, started="2026-01-04")
    text = (truncated / "history.jsonl").read_text()
    (truncated / "history.jsonl").write_text(text[: len(text) // 2 + 7])
    return [
        write_run(folder / "a-quiet", quiet, started="2026-01-01"),
        write_run(folder / "b-faulty", faulty, faults, started="2026-01-02"),
        write_run(folder / "c-stale", stale, started="2026-01-03"),
        truncated,
    ]


def local_analysis(runs, out: Path, gap_ns=SECOND) -> Path:
    """Analyses runs in this process's Spark session; returns where the tables are."""
    from kraftproof.checkers.spark.analysis import analyze
    from kraftproof.checkers.spark.session import session

    out.mkdir()
    analyze(session(), list(find_sources(runs)), out, gap_ns=gap_ns, tell=lambda _: None)
    return out
