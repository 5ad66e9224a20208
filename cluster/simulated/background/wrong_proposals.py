"""AlterPartition requests that a controller must refuse: late again, ahead, or with a wrong member.

A network may deliver a leader's request again later, a leader may be ahead of a deposed controller,
and a leader may not know yet that a member is fenced or has restarted (KIP-497, KIP-903).
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.background.partition_clients import NAME, Client
from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope, SimulatedTask
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import NO_NODE, NodeId, milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.messages import alter_partition_request

Request = alter_partition_request.AlterPartitionRequest
BrokerState = alter_partition_request.BrokerState
LONGEST_DELAY_NS: Final = milliseconds(1_500)
"""Longest delay of a request that arrives again."""
VERSION: Final = 3
AGAIN_SHARE: Final = 0.25
AHEAD_SHARE: Final = 0.15
STALE_SHARE: Final = 0.15


class WrongProposals:
    """Sends a wrong request after some requests of leaders, one at a time."""

    def __init__(
        self, scope: SimulatedScope, world: World, random: Random, controllers: Sequence[int]
    ) -> None:
        self._scope = scope
        self._world = world
        self._random = random
        self._controllers = controllers
        self._client = Client(scope, world.network, random, list(controllers))
        self._is_waiting = False
        self._task: SimulatedTask[None] | None = None

    def on_received(self, process: ProcessView, event: Received) -> None:
        """Take a request of a leader; called by the monitor."""
        message = event.message
        assert isinstance(message, Request), "the type of the hook"
        if not self._is_waiting:
            self._is_waiting = True
            self._task = self._scope.spawn(self._follow(process.node_id, message, event.version))

    async def _follow(self, asked: int, message: Request, version: int) -> None:
        """Send a wrong request of the same version some time after a leader's request."""
        random = self._random
        await self._scope.sleep(random.randrange(LONGEST_DELAY_NS))
        kind = random.random()
        if kind < AGAIN_SHARE:
            for controller in self._controllers:
                await self._client.ask(controller, message, version)
        elif kind < AGAIN_SHARE + AHEAD_SHARE:
            await self._client.ask(asked, _ahead(message), version)
        elif kind < AGAIN_SHARE + AHEAD_SHARE + STALE_SHARE:
            stale = replace(message, broker_epoch=message.broker_epoch - 1)
            await self._client.ask(asked, stale, version)
        else:
            await self._send_ineligible()
        self._is_waiting = False

    async def _send_ineligible(self) -> None:
        """Propose a member that is down, or by the epoch of its former process, to each node."""
        processes = [self._world.machines[node_id].process for node_id in self._controllers]
        images = [process.image for process in processes if process is not None]
        image = max(images, key=lambda each: len(each.brokers), default=None)
        topic_id = None if image is None else image.topic_ids.get(NAME)
        if image is None or topic_id is None:
            return
        requests = [self._ineligible(image, each) for each in image.partitions_of(topic_id)]
        for request in requests:
            if request is None:
                continue
            for controller in self._controllers:
                await self._client.ask(controller, request, VERSION)

    def _ineligible(self, image: MetadataImage, partition: Partition) -> Request | None:
        leader = image.brokers.get(partition.leader)
        others = [
            node
            for node in partition.replicas
            if node != partition.leader and node in image.brokers
        ]
        if partition.leader == NO_NODE or leader is None or not others:
            return None
        outside = [node for node in others if node not in partition.isr]
        wrong = self._random.choice(outside or others)
        epoch = image.brokers[wrong].epoch
        machine = self._world.machines.get(wrong)  # None for a client that is registered
        is_down = image.brokers[wrong].fenced and (machine is None or machine.process is None)
        members = [
            (member, image.brokers[member].epoch)
            for member in partition.isr
            if member != wrong and member in image.brokers
        ]
        return _proposal(partition, leader.epoch, [*members, (wrong, epoch - (not is_down))])


def _ahead(message: Request) -> Request:
    """Return a request of a leader that knows a later leader epoch."""
    return replace(
        message,
        topics=tuple(
            replace(
                topic,
                partitions=tuple(
                    replace(part, leader_epoch=part.leader_epoch + 9) for part in topic.partitions
                ),
            )
            for topic in message.topics
        ),
    )


def _proposal(
    partition: Partition, broker_epoch: int, members: Sequence[tuple[NodeId, int]]
) -> Request:
    part = alter_partition_request.PartitionData(
        partition_index=partition.index,
        leader_epoch=partition.leader_epoch,
        new_isr_with_epochs=tuple(
            BrokerState(broker_id=node, broker_epoch=epoch) for node, epoch in members
        ),
        leader_recovery_state=0,
        partition_epoch=partition.partition_epoch,
    )
    topic = alter_partition_request.TopicData(topic_id=partition.topic_id, partitions=(part,))
    return Request(broker_id=partition.leader, broker_epoch=broker_epoch, topics=(topic,))
