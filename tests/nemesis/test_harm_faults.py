"""The faults that only some backends can make: drawn, applied, shown, healed, refused."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.errors import UsageError
from kraftproof.nemesis.clock import LARGEST_RATE_PPM, Drift, rate_error
from kraftproof.nemesis.degrade import Degrade
from kraftproof.nemesis.disk import Wipe
from kraftproof.nemesis.schedule import Scheduled
from kraftproof.nemesis.schedule_file import fault_line, parse_fault_line
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan
from kraftproof.search.scenario import EXTRAS
from tests.nemesis.injection import drawn, injected

BROKER = 4


@pytest.mark.simulation
@pytest.mark.parametrize("kind", EXTRAS)
def test_a_fault_bites_and_is_healed_and_the_cluster_is_whole_again(tmp_path, kind):
    bitten = 0
    for seed in range(3):
        cluster, log = injected(tmp_path, drawn(kind, seed))
        assert log.phases[:2] == ["intent", "applied"]
        assert log.phases[-1] == "healed"
        bitten += "bitten" in log.phases
        for machine in cluster.world.machines.values():
            assert machine.process is not None
            assert machine.disk.disk_faults is None
            assert machine.env.clock.injected_ns == machine.env.clock.rate_ppm == 0
    assert bitten >= 2


@pytest.mark.parametrize("kind", EXTRAS)
def test_a_fault_is_the_same_for_the_same_seed_and_reads_back_from_a_schedule(kind):
    assert drawn(kind, 1) == drawn(kind, 1)
    assert len({drawn(kind, seed).describe() for seed in range(30)}) > 1
    for seed in range(30):
        one = Scheduled(name="f0", kind=kind, at_ns=1, until_ns=2, fault=drawn(kind, seed))
        assert parse_fault_line(fault_line(one), "f0") == one


@pytest.mark.parametrize("kind", ["wipe", "bit-rot", "drift"])
@pytest.mark.parametrize("backend", ["local", "docker"])
def test_a_backend_that_can_not_is_refused_before_anything_starts(tmp_path, kind, backend):
    options = RunOptions(
        backend=backend, nemeses=(kind,), time_limit_s=60, store=tmp_path, engine="inline"
    )
    with pytest.raises(UsageError, match=f"--nemesis {kind}: the {backend} backend can't do that"):
        plan(options)


def test_a_degraded_node_has_trouble_on_all_its_links_and_no_other():
    options = ClusterOptions(nodes=nodes_of(controller=3, broker=2), seed=1, directory=None)
    for seed in range(20):
        fault = drawn("loss", seed).resolved({"active-controller": (2,)}, options.nodes)
        assert isinstance(fault, Degrade)
        both = 8 if fault.direction == "both" else 4
        assert len(fault.links) == both
        assert all(fault.target in link for link in fault.links)


@pytest.mark.simulation
def test_a_voter_is_never_wiped(tmp_path):
    assert all(drawn("wipe", seed).target >= BROKER for seed in range(40))
    _, log = injected(tmp_path, Wipe(target=1))
    assert log.rows[-1] == ("moot", "node 1 is a voter")


def test_checkers_are_told_of_a_drift_that_was_asked_for():
    assert rate_error(("kill", "clock")) == 0.0
    assert rate_error(("kill", Drift.kind)) == LARGEST_RATE_PPM / 1_000_000
    rates = [abs(drawn("drift", seed).rate_ppm) for seed in range(50)]
    assert 10_000 <= min(rates) < max(rates) <= LARGEST_RATE_PPM
