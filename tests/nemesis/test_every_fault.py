"""Every fault changes the cluster while it is applied, shows so, and heals what it has changed."""

import pytest

from kraftproof.cluster.protocol import LIVE_ONLY
from kraftproof.nemesis.catalogue import ours
from tests.nemesis.injection import drawn, injected

CHANGED = {
    "kill": "processes",
    "kill-all": "processes",
    "restart": "processes",
    "stop": "processes",
    "rolling": "processes",
    "lose-unsynced": "processes",
    "wipe": "processes",
    "failed-directory": "directories",
    "bit-rot": "files",
    "aimed-crash": "aims",
    "pause": "paused",
    "partition": "cuts",
    "isolate": "cuts",
    "clock": "clocks",
    "clock-strobe": "clocks",
    "clock-drift": "clocks",
    "drift": "clocks",
    "disk-full": "disks",
    "disk-error": "disks",
    "slow-disk": "disks",
    "loss": "links",
    "reset": "links",
    "stall": "links",
    "latency": "links",
}
"""The part of a cluster's state that a fault changes as soon as it is applied."""
SEEDS = range(3)


def state_of(cluster):
    machines, links = cluster.world.machines, cluster.world.links
    alive = [(n, machine) for n, machine in machines.items() if machine.process is not None]
    clocks = {n: machine.env.clock for n, machine in machines.items()}
    return {
        "processes": {n: machine.restart_count for n, machine in alive},
        "paused": {n for n, machine in alive if machine.process.is_paused},
        "cuts": set(links._cuts),
        "clocks": {
            n: (c.wall_offset_ns, c._strobe, c._wall_rate, c.rate_ppm) for n, c in clocks.items()
        },
        "aims": set(cluster.aimed_crashes),
        "files": {n: machine.damaged_file for n, machine in machines.items()},
        "directories": {n: set(machine.disk.failed_directories) for n, machine in machines.items()},
        "disks": {n: list(machine.disk_faults.faults) for n, machine in machines.items()},
        "links": {
            link: list(link_faults) for link, link_faults in links._link_faults._faults.items()
        },
    }


def test_every_fault_of_ours_that_the_simulator_has_is_in_the_table():
    live_only = {name for name, fault in ours().items() if fault.requires in LIVE_ONLY}
    assert set(CHANGED) == set(ours()) - live_only


@pytest.mark.simulation
@pytest.mark.parametrize("kind", sorted(CHANGED))
def test_a_fault_changes_the_cluster_while_it_is_applied_and_no_longer(tmp_path, kind):
    shown = 0
    for seed in SEEDS:
        _, log = injected(tmp_path, drawn(kind, seed), observe=state_of)
        before, applied, healed = (log.observed[p] for p in ("intent", "applied", "healed"))
        assert applied[CHANGED[kind]] != before[CHANGED[kind]]
        shown += "bitten" in log.phases
        assert healed.pop("processes").keys() == before.pop("processes").keys()
        assert healed == before
    assert shown > 0
