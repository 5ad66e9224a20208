"""A leader is cut off at its proposals, before a removal arrives and after an expansion has."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.background import interrupted_proposals
from kraftproof.cluster.simulated.background.interrupted_proposals import InterruptedProposals
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

SECOND_NS = 1_000_000_000
MOST_SECONDS = 30
CONTROLLER, BROKERS = 1, (2, 3, 4)


@pytest.mark.simulation
def test_removals_and_expansions_are_cut_and_every_cut_heals(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupted_proposals, "SHARE", 1.0)
    monkeypatch.setattr(interrupted_proposals, "CUT_SHARE", 1.0)
    begun = []
    cut = InterruptedProposals._cut

    def noted(self, leader, joiners, partition):
        cut(self, leader, joiners, partition)
        links = self._world.links
        others = (CONTROLLER, *joiners)
        assert all(links.is_cut(Link(leader, each)) for each in others)
        begun.append(tuple(joiners))

    monkeypatch.setattr(InterruptedProposals, "_cut", noted)
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=3), seed=11, directory=tmp_path, has_data=True
    )
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        for node_id in (*BROKERS, *BROKERS):
            await cluster.scope.sleep(4 * SECOND_NS)
            process = cluster.world.machines[node_id].process
            process.pause()
            await cluster.scope.sleep(4 * SECOND_NS)
            process.resume()
        for _ in range(MOST_SECONDS):  # other loads let leaders propose to the end
            await cluster.scope.sleep(SECOND_NS)
            if not cluster.world.links._cuts:
                return
        raise AssertionError("a cut does not heal")

    cluster.run(main())
    assert () in begun, "a removal was cut"
    assert any(begun), "an expansion was cut"
    assert cluster.violations == []


@pytest.mark.simulation
def test_the_cuts_of_the_final_phase_stay(tmp_path, monkeypatch):
    """A load whose cut ends in the final phase must not connect a node that is missing by then."""
    monkeypatch.setattr(interrupted_proposals, "SHARE", 1.0)
    monkeypatch.setattr(interrupted_proposals, "CUT_SHARE", 1.0)
    cut = InterruptedProposals._cut
    leaders = []

    def noted(self, leader, joiners, partition):
        cut(self, leader, joiners, partition)
        self._world.is_in_final_phase = True
        leaders.append(leader)

    monkeypatch.setattr(InterruptedProposals, "_cut", noted)
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=3), seed=11, directory=tmp_path, has_data=True
    )
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        for node_id in BROKERS:
            await cluster.scope.sleep(4 * SECOND_NS)
            cluster.world.machines[node_id].process.pause()
            await cluster.scope.sleep(4 * SECOND_NS)
            cluster.world.machines[node_id].process.resume()
        await cluster.scope.sleep(interrupted_proposals.LONGEST_NS)
        assert leaders
        assert cluster.world.links.is_cut(Link(leaders[0], CONTROLLER))

    cluster.run(main())
