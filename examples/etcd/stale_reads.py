"""A fault aimed at etcd issue 20418, stale linearizable reads of a leader that was replaced.

Affected are releases before 3.6.9, such as Debian's 3.5.16. A follower repeats its question for a
read index with the same id. Late answers to the first heartbeat confirm the repeated question at a
leader that has been replaced. One cycle pauses the followers, drops what they send to the leader,
pauses the leader during the election, and heals the drop shortly before TCP sends again.
"""

from dataclasses import dataclass, replace

from system import Etcd

from kraftproof.cluster.protocol import Capability, Link
from kraftproof.nemesis.fault import LEADER, Role, resolve

SECOND_NS = 1_000_000_000
HEAL_AFTER_S = 2.78
"""From the drop to the heal, which takes some 0.1 s; TCP sends for the fourth time after 3.0 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleLeader:
    """One cycle; the times are drawn by the planner, in seconds."""

    kind = "stale-leader"
    requires = Capability.PARTITION
    leader: object
    followers: tuple = ()
    followers_paused_s: float
    leader_ahead_s: float
    """The leader goes on this long before the heal of its links."""

    @property
    def targets(self):
        """The node that leads when the cycle starts."""
        return (self.leader,)

    @property
    def links(self):
        """From the followers to the leader."""
        return tuple(Link(follower, self.leader) for follower in self.followers)

    def resolved(self, roles, nodes):
        """Return the cycle with the ids of the nodes."""
        leader = resolve(self.leader, roles, nodes)
        others = tuple(node.node_id for node in nodes if node.node_id != leader)
        return replace(self, leader=leader, followers=others)

    def describe(self):
        """Name the leader and the drawn times."""
        times = f"{self.followers_paused_s:.3f} s and {self.leader_ahead_s:.3f} s"
        return f"stale-leader cycle of {self.leader} with {times}"

    def describe_heal(self):
        """Name the end of all pauses and cuts."""
        return "resume every node, heal the links to the leader"

    async def skipped(self, context):
        """Return a reason if a node is down."""
        for node_id in (self.leader, *self.followers):
            if await context.down(node_id):
                return f"node {node_id} is down"
        return None

    async def baseline(self, context):
        """Return no measurements."""
        del context
        return {}

    async def apply(self, context):
        """Do the whole cycle, about three seconds."""
        cluster, scope = context.cluster, context.cluster.scope
        pausing = [scope.spawn(cluster.pause(node_id)) for node_id in self.followers]
        for task in pausing:
            await task
        await scope.sleep(int(self.followers_paused_s * SECOND_NS))
        dropped_ns = scope.now()
        await context.cut(self.links)
        resuming = [scope.spawn(cluster.resume(node_id)) for node_id in self.followers]
        for task in resuming:
            await task
        await scope.sleep(SECOND_NS // 20)
        await cluster.pause(self.leader)
        healed_ns = dropped_ns + int(HEAL_AFTER_S * SECOND_NS)
        await scope.sleep(healed_ns - int(self.leader_ahead_s * SECOND_NS) - scope.now())
        await cluster.resume(self.leader)
        await scope.sleep(max(1, healed_ns - scope.now()))

    async def observed_effect(self, context, baseline):
        """Return the number of dropped packets."""
        del baseline
        dropped = await context.cluster.withheld(frozenset(self.links))
        return f"{dropped} packets to the leader dropped" if dropped else None

    async def heal(self, context):
        """Resume what is still paused, and heal the links."""
        await context.heal(self.links)
        for node_id in (self.leader, *self.followers):
            if not await context.down(node_id) and await context.cluster.is_paused(node_id):
                await context.cluster.resume(node_id)


def plan(random, nodes):
    """Draw the times of a cycle."""
    del nodes
    return StaleLeader(
        leader=Role(name=LEADER),
        followers_paused_s=random.uniform(0.1, 0.5),
        leader_ahead_s=random.uniform(0.1, 0.4),
    )


class Pinned(Etcd):
    """etcd with clients that stay at their node, so that reads wait at a paused leader."""

    def client(self, cluster, workload, random):
        """Return a client that connects to the same node again."""
        client = super().client(cluster, workload, random)
        turn_away = client.close

        def close():
            node = client.node
            turn_away()
            client.nodes.sort(key=lambda other: other != node)

        client.close = close
        return client
