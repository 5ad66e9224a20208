"""The workloads of access control, credentials, tokens and quotas, simulated and on live nodes."""

import json

import pytest

from tests.support.long_cases import long

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
    for line in (run.directory.path / "history.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event.get("type") == "ok":
            found.add(event["f"])
            value = event.get("value")
            throttled += isinstance(value, dict) and value.get("throttle_ms", 0) > 0
    return found, throttled


@pytest.mark.simulation
@pytest.mark.parametrize("workload", [long("acls"), long("credentials"), long("tokens"), "quotas"])
def test_a_simulated_run_is_valid_under_its_faults(kraftproof_run, workload):
    run = kraftproof_run(
        backend="simulated",
        workload=workload,
        nemesis="kill,partition",
        time_limit_s=30.0,
        seed=2,
    )
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 300
    found, throttled = done(run)
    assert found >= CHANGES[workload]
    assert bool(throttled) == (workload == "quotas")


TRIES = 4
TLS = (("security.inter.broker.protocol", "SSL"),)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "fault", "settings"),
    [
        long("credentials", "kill", TLS),
        long("acls", "partition", ()),
        long("tokens", "pause", TLS),
        ("quotas", "kill", ()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_short_run_on_local_nodes_is_valid_under_a_fault(
    kraftproof_run, workload, fault, settings
):
    for seed in range(1, TRIES + 1):  # a loaded machine leaves too little of a run quiet
        run = kraftproof_run(
            backend="local",
            workload=workload,
            nodes="1+2",
            nemesis=fault,
            min_bites=1,
            time_limit_s=9.0,
            node_config=settings,
            seed=seed,
        )
        assert run.verdict != "invalid", run.why
        if run.verdict == "valid":
            break
    assert run.verdict == "valid", run.why
    assert run.figures.ok > 50
    entries = (run.directory.path / "nodes/2/server.properties").read_text(encoding="utf-8")
    assert ("PLAINTEXT:SSL" in entries) == bool(settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "mutant", "finding"),
    [
        long("credentials", "H10", "credentials/order"),
        long("acls", "H7", "acls/order"),
        long("tokens", "H11", "tokens/maximum"),
        long("quotas", "H13", "quotas/needless"),
    ],
)
def test_a_bug_in_live_nodes_is_found(kraftproof_run, workload, mutant, finding):
    reasons = []
    for seed in range(1, TRIES + 1):  # a loaded machine serves few operations
        run = kraftproof_run(
            backend="local",
            workload=workload,
            nodes="1+1",
            nemesis="none",
            time_limit_s=7.0,
            mutant=mutant,
            seed=seed,
        )
        reasons += run.why
        if any(finding in line for line in run.why):
            break
    assert any(finding in line for line in reasons), reasons


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_run_in_containers_is_valid_under_kills(kraftproof_run, workload):
    run = kraftproof_run(
        backend="docker", workload=workload, nemesis="kill", time_limit_s=20.0, seed=1
    )
    assert run.verdict == "valid", run.why
