"""The workloads of access control, credentials, tokens and quotas, simulated and on live nodes."""

import json

import pytest

WORKLOADS = ("acls", "credentials", "tokens", "quotas")
CHANGES = {
    "acls": {"grant", "revoke", "ask", "final"},
    "credentials": {"set", "remove", "login", "describe", "final"},
    "tokens": {"create", "renew", "expire", "remove", "login", "describe", "final"},
    "quotas": {"set", "confirm", "send", "read"},
}


def done(run):
    """The operations of a run with an ok, and the throttled answers among them."""
    found, throttled = set(), 0
    for line in (run.directory / "history.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event.get("type") == "ok":
            found.add(event["f"])
            value = event.get("value")
            throttled += isinstance(value, dict) and value.get("throttle_ms", 0) > 0
    return found, throttled


@pytest.mark.simulation
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_simulated_run_is_valid_under_its_faults(kraftproof_run, workload):
    run = kraftproof_run(
        backend="simulated",
        workload=workload,
        nemesis="kill,pause,partition,clock",
        time_limit_s=25.0,
        seed=2,
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 300
    found, throttled = done(run)
    assert found >= CHANGES[workload]
    assert bool(throttled) == (workload == "quotas")


@pytest.mark.slow
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_short_run_on_local_nodes_is_valid(kraftproof_run, workload):
    run = kraftproof_run(
        backend="local", workload=workload, nemesis="none", time_limit_s=4.0, seed=1
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 60


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_run_in_containers_is_valid_under_kills(kraftproof_run, workload):
    run = kraftproof_run(
        backend="docker", workload=workload, nemesis="kill", time_limit_s=20.0, seed=1
    )
    assert run.verdict == "valid", run.why
