"""A fault aimed at etcd issue 20418, stale linearizable reads of a leader that was replaced.

Affected are releases before 3.6.9, such as Debian's 3.5.16. A node asks the leader for a read
index, and the leader confirms its leadership by a heartbeat with the id of the question. Without an
answer the node repeats the question each 0.5 s with the same id. A late answer to the first
heartbeat confirms a repeated question, and every read that the leader has queued before it.

One cycle delays what the followers send to the leader by `DELAY_S`. Meanwhile the followers elect
another leader, and clients send reads to the old one. The old leader then sees in this order:

1. the first follower's answers to heartbeats: the next read of the old leader's clients is queued;
2. the first follower's repeated question, queued behind that read;
3. the second follower's answer to the first heartbeat, late since that node was paused: both are
   confirmed.

A cycle is in vain if the first follower had no question on the way when the delay began.
"""

from dataclasses import dataclass, replace

from system import Etcd

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Capability, Link
from kraftproof.nemesis.fault import LEADER, Role, resolve

SECOND_NS = 1_000_000_000
DELAY_S = 3.0
DELAYED = LinkFault(slow_ns=int(DELAY_S * SECOND_NS))
REPEATED_AFTER_S = 0.5
"""The time after which etcd repeats a question for a read index."""
END_S = DELAY_S + REPEATED_AFTER_S + 0.4
"""The end of a cycle: before the old leader hears of the election, which takes 1 s or more."""
CLIENT_TIMEOUTS_S = (0.5, 1.3)
"""The shortest and the longest time-out of a client: some give up and read again at any moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleLeader:
    """One cycle; the times are drawn by the planner, in seconds."""

    kind = "stale-leader"
    requires = Capability.LATENCY
    leader: object
    followers: tuple = ()
    second_paused_s: float
    """The pause of the second follower."""
    leader_ahead_s: float
    """The leader goes on this long before the first delayed data arrives."""

    @property
    def targets(self):
        """The node that leads when the cycle starts."""
        return (self.leader,)

    @property
    def links(self):
        """From the followers to the leader."""
        return frozenset(Link(follower, self.leader) for follower in self.followers)

    def resolved(self, roles, nodes):
        """Return the cycle with the ids of the nodes."""
        leader = resolve(self.leader, roles, nodes)
        others = tuple(node.node_id for node in nodes if node.node_id != leader)
        return replace(self, leader=leader, followers=others)

    def describe(self):
        """Name the leader and the drawn times."""
        times = f"{self.second_paused_s:.3f} s and {self.leader_ahead_s:.3f} s"
        return f"stale-leader cycle of {self.leader} with {times}"

    def describe_heal(self):
        """Name the end of all pauses and delays."""
        return "resume every node, end the delay of the links to the leader"

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
        """Do the whole cycle, about four seconds."""
        cluster, scope = context.cluster, context.cluster.scope
        second = self.followers[-1]
        await cluster.pause(second)
        before = await cluster.link_fault_count(self.links)
        await cluster.add_link_fault(self.links, DELAYED)
        began_ns = scope.now()

        async def wait_until(after_s):
            await scope.sleep(max(1, began_ns + int(after_s * SECOND_NS) - scope.now()))

        await wait_until(0.05)
        await cluster.pause(self.leader)
        await wait_until(self.second_paused_s)
        await self.resume(context, second)
        effect = scope.spawn(cluster.link_fault_effect(self.links, DELAYED, before))
        await wait_until(DELAY_S - self.leader_ahead_s)
        await self.resume(context, self.leader)
        await wait_until(END_S)
        context.note(self, await effect or "")

    async def observed_effect(self, context, baseline):
        """Return the delay that the cycle has measured."""
        del baseline
        return ", ".join(filter(None, context.notes(self))) or None

    async def heal(self, context):
        """Resume what is still paused, and end the delay."""
        await context.cluster.remove_link_fault(self.links, DELAYED)
        for node_id in (self.leader, *self.followers):
            await self.resume(context, node_id)

    async def resume(self, context, node_id):
        """Resume a node that is still paused; the heal of an earlier cycle may have done so."""
        if not await context.down(node_id) and await context.cluster.is_paused(node_id):
            await context.cluster.resume(node_id)


def plan(random, nodes):
    """Draw the times of a cycle."""
    del nodes
    return StaleLeader(
        leader=Role(name=LEADER),
        second_paused_s=REPEATED_AFTER_S + random.uniform(0.08, 0.16),
        leader_ahead_s=random.uniform(0.2, 0.5),
    )


class Pinned(Etcd):
    """etcd with clients that stay at their node, so that reads wait at a paused leader."""

    def client(self, cluster, workload, random):
        """Return a client that connects to the same node again."""
        client = super().client(cluster, workload, random)
        client.timeout_s = random.uniform(*CLIENT_TIMEOUTS_S)
        turn_away = client.close

        def close():
            node = client.node
            turn_away()
            client.nodes.sort(key=lambda other: other != node)

        client.close = close
        return client
