"""The reference names its cluster, and a broker of another cluster is told."""

import asyncio

import pytest

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.identities import several_clusters
from kraftproof.cluster.systems.reference.system import ReferenceSystem


def local(directory, seed):
    nodes = nodes_of(controller=1, broker=1)
    options = ClusterOptions(nodes=nodes, seed=seed, directory=directory)
    return LocalCluster(options, LiveScope(), ReferenceSystem())


class Mixed:
    """Two clusters taken for one: the broker of each."""

    def __init__(self, first, second):
        self.scope, self.clusters = first.scope, (first, second)
        self.nodes = (first.nodes[1], second.nodes[1])


class Both(ReferenceSystem):
    """Asks the broker of the first cluster, then that of the second."""

    def __init__(self):
        super().__init__()
        self.asked = 0

    async def identity(self, cluster, node_id):
        self.asked += 1
        return await super().identity(cluster.clusters[self.asked - 1], node_id)


@pytest.mark.long
def test_brokers_of_two_clusters_are_told_and_those_of_one_are_not(tmp_path):
    async def both():
        clusters = [local(tmp_path / str(seed), seed) for seed in (1, 2)]
        try:
            for cluster in clusters:
                await cluster.start()
            alone = [await several_clusters(one, ReferenceSystem()) for one in clusters]
            return alone, await several_clusters(Mixed(*clusters), Both())
        finally:
            for cluster in clusters:
                await cluster.stop()

    alone, together = asyncio.run(both())
    assert alone == [None, None]
    assert together.startswith("contaminated: the nodes belong to 2 clusters: node 2 to ")
