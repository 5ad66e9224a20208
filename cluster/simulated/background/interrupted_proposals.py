"""Cuts around proposals of an ISR, during which a leader does not learn the result (KIP-497).

An expansion is cut when the proposal has reached a controller: the joiner may be in the ISR, and
cannot fetch from the leader. A removal is cut before it reaches a controller: the member that lags
is still in the ISR. Meanwhile a client produces to the partition with acks=all. A leader that does
not count both ISRs acknowledges a record that a member of the committed ISR lacks.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.background.operators.cuts import (
    cut_links,
    heal_links,
    links_between,
)
from kraftproof.cluster.simulated.background.partition_clients import NAME, NO_TIMESTAMP, Client
from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, SimulatedTask
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import alter_partition_request

Request = alter_partition_request.AlterPartitionRequest
SHARE: Final = 0.25
"""Share of the runs with replicas that have these cuts."""
CUT_SHARE: Final = 0.5
"""Share of the proposals that are cut, of those about the background topic."""
SHORTEST_NS, LONGEST_NS = milliseconds(200), milliseconds(1_500)
"""Length of a cut; a broker's session is longer."""
BATCHES: Final = 4
NO_PRODUCER: Final = (-1, -1, -1)
ACKS_ALL: Final = -1


class InterruptedProposals:
    """Cuts a leader off at its proposals, one cut at a time."""

    def __init__(self, scope: SimulatedScope, world: World, random: Random, client: Client) -> None:
        self._scope = scope
        self._world = world
        self._random = random
        self._client = client
        self._controllers: Sequence[int] = ()
        self._task: SimulatedTask[None] | None = None
        self._is_cut = False

    def join(self, controllers: Sequence[int]) -> None:
        """Hear of each proposal that a leader sends and that a controller receives."""
        self._controllers = controllers
        self._world.monitor.on_sent[Request].append(self._on_sent)
        self._world.monitor.on_received[Request].append(self._on_received)

    def _on_sent(self, process: ProcessView, effect: Send) -> None:
        assert isinstance(effect.message, Request), "the type of the hook"
        self._interrupt(process, effect.message, is_growing=False)

    def _on_received(self, process: ProcessView, event: Received) -> None:
        assert isinstance(event.message, Request), "the type of the hook"
        self._interrupt(process, event.message, is_growing=True)

    def _interrupt(self, process: ProcessView, message: Request, *, is_growing: bool) -> None:
        """Cut the leader off, if the proposal adds or removes a member as wanted."""
        if self._world.is_in_final_phase:
            return
        topic_id = process.image.topic_ids.get(NAME)
        partitions = {} if topic_id is None else process.image.partitions[topic_id]
        for topic in message.topics:
            for part in topic.partitions if topic.topic_id == topic_id else ():
                known = partitions.get(part.partition_index)
                proposed = [member.broker_id for member in part.new_isr_with_epochs]
                if known is None or not proposed or self._is_cut:
                    continue
                added = [node for node in proposed if node not in (*known.isr, message.broker_id)]
                if bool(added) is is_growing and self._random.random() < CUT_SHARE:
                    self._cut(message.broker_id, added, part.partition_index)

    def _cut(self, leader: int, joiners: Sequence[int], partition: int) -> None:
        self._is_cut = True
        found = links_between(leader, (*self._controllers, *joiners))
        links = [link for link in found if not self._world.links.is_cut(link)]
        cut_links(self._world, links)
        self._task = self._scope.spawn(self._produce_and_heal(links, partition))

    async def _produce_and_heal(self, links: Sequence[Link], partition: int) -> None:
        left_ns = self._random.randrange(SHORTEST_NS, LONGEST_NS)
        until_ns = self._scope.now() + left_ns
        writers = []
        for number in range(BATCHES):
            data = client_batch([f"cut-{number}".encode()], NO_TIMESTAMP, NO_PRODUCER)
            writers.append(self._scope.spawn(self._client.send(data, partition, ACKS_ALL)))
            await self._scope.sleep(self._random.randrange(left_ns // BATCHES))
        await self._scope.sleep(max(until_ns - self._scope.now(), 0))
        heal_links(self._world, links)
        for writer in writers:
            await writer
        self._is_cut = False
