"""What the harness writes down and what the checkers read of it agree."""

import json

import msgspec
import pytest

from kraftproof.checkers import check_run
from kraftproof.checkers.sources import find_sources
from kraftproof.cluster.profiles import PROFILES
from kraftproof.cluster.protocol import nodes_of
from kraftproof.cluster.systems.reference.timeouts import timeouts
from kraftproof.options import PROFILES as OPTION_PROFILES
from kraftproof.options import RunOptions
from kraftproof.run.directory import RunDirectory
from kraftproof.run.history import FaultRecorder
from kraftproof.run.outcome import OutcomeRecorder
from kraftproof.workloads.registration import Registration

pytestmark = pytest.mark.simulation

MS = 1_000_000
NODES = nodes_of(controller=3, broker=3)
REGISTERED = "registered"


@pytest.mark.parametrize("profile", OPTION_PROFILES)
def test_the_bounds_of_leases_are_those_of_the_profile(tmp_path, profile):
    found = timeouts(profile)
    directory = RunDirectory(path=tmp_path)
    directory.write_run(RunOptions(timeouts=profile), Registration(), NODES, (), None)
    directory.history.write_bytes(b"")
    OutcomeRecorder(tmp_path, is_guarded=False).write(None, (), is_complete=True)
    (source,) = find_sources([tmp_path])
    assert source.options.leases.session_ns == found.session_ns
    assert source.options.leases.failover_ns == PROFILES[profile].failover_ns
    # A failover takes the loss of the leader, and elections of which the first may well fail.
    assert PROFILES[profile].failover_ns >= 2 * found.fetch_ns + 2 * found.election_ns


def lease_history(tmp_path, shutting_down, *, status="info"):
    """A broker's wish to stop, its answer lost, and another incarnation 100 ms later."""
    heartbeat = {
        "incarnation": "a",
        "epoch": 5,
        "want_fence": False,
        "want_shut_down": shutting_down,
    }
    operations = [
        (0, "register", {"incarnation": "a"}, "ok", {"outcome": REGISTERED, "epoch": 5}),
        (0, "heartbeat", heartbeat, status, None),
        (1, "register", {"incarnation": "b"}, "ok", {"outcome": REGISTERED, "epoch": 9}),
    ]
    lines = []
    for place, (process, f, asked, end, said) in enumerate(operations):
        for kind, value, at_ms in (("invoke", asked, 0), (end, said, 10)):
            event = {
                "index": len(lines),
                "process": process,
                "type": kind,
                "f": f,
                "key": "1000",
                "value": value,
                "time": (place * 50 + at_ms) * MS,
                "node": 1,
            }
            lines.append(json.dumps(event) + "\n")
    directory = RunDirectory(path=tmp_path)
    directory.write_run(RunOptions(workload="registration"), Registration(), NODES, (), None)
    directory.history.write_text("".join(lines))
    FaultRecorder(directory.faults, lambda: 0).close()
    OutcomeRecorder(tmp_path, is_guarded=False).write(None, (), is_complete=True)
    return check_run(tmp_path, "inline")


def test_a_lost_wish_to_shut_down_counts_as_perhaps_granted(tmp_path):
    run = lease_history(tmp_path, shutting_down=True)
    assert run.verdict == "valid", run.findings


@pytest.mark.parametrize(("shutting_down", "status"), [(False, "info"), (True, "fail")])
def test_nothing_else_ends_a_lease_early(tmp_path, shutting_down, status):
    run = lease_history(tmp_path, shutting_down=shutting_down, status=status)
    assert run.verdict == "invalid"
    assert any("whose session is 2000.0 ms" in one.sentence for one in run.findings)


def test_the_verdict_can_be_written_as_json(healthy_run):
    assert msgspec.json.encode(check_run(healthy_run, "inline", write_tables=False))
