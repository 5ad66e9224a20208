"""The injector and faults that take long."""

from kraftproof.nemesis.lose_unsynced import LoseUnsynced
from tests.nemesis.test_injector import SECOND_NS, FakeCluster, run


def test_a_fault_that_takes_longer_to_apply_than_it_lasts_is_looked_at_once():
    cluster = FakeCluster()
    lose_power = cluster.lose_unsynced

    async def slow(node_id):
        await cluster.scope.sleep(2 * SECOND_NS)
        await lose_power(node_id)

    cluster.lose_unsynced = slow
    log = run(cluster, (1, 2, LoseUnsynced(victims=(1,))))
    assert log.phases == ["intent", "applied", "bitten", "healed"]
