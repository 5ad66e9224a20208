"""Commands in the background that tests interrupt, and what the tests ask of them."""

import json
import time

from kraftproof.cluster.local import ownership
from kraftproof.cluster.processes import state_of

PATIENCE_S = 120
"""A bound of waits only: a container starts within seconds, and within a minute under load."""


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def wait_for(find):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := find()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def applied(store):
    """The directory of the run once a fault is in force."""
    for faults in store.glob("*/faults.jsonl"):
        if '"applied"' in faults.read_text():
            return faults.parent
    return None


def processes_of(environment):
    (path,) = ownership.Path(environment["XDG_RUNTIME_DIR"]).glob("kraftproof/*.json")
    return [process["pid"] for process in json.loads(path.read_bytes())["processes"]]


def all_gone(processes):
    return all(state_of(process) in {None, "Z"} for process in processes)


def is_quiet(out, err):
    """Whether an interrupted command said nothing of how the interrupt went through its code."""
    traces = ("Traceback", "Event loop is closed", "never awaited", "was never retrieved", "py4j")
    return not any(trace in out + err for trace in traces)
