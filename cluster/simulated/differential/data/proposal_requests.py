"""Make the request of a leader with its open proposals from the model (KIP-497, KIP-903)."""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.data.controlled import FIRST_EPOCH, TOPIC
from kraftproof.cluster.simulated.differential.data.led_model import ERRORS, OWN, Led
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    alter_partition_response,
)

EPOCHS_FROM: Final = 10
"""The level of metadata.version 3.5-IV1."""
Request = alter_partition_request.AlterPartitionRequest


def version_at(level: int) -> int:
    """Return the version of AlterPartition at a level of metadata.version."""
    return 3 if level >= EPOCHS_FROM else 2


def request_with(due: dict[int, Led], broker_epoch: int, level: int) -> Request:
    """Return the request with the open proposals; members have broker epochs since KIP-903."""
    module, has_epochs = alter_partition_request, level >= EPOCHS_FROM
    return Request(
        broker_id=OWN,
        broker_epoch=broker_epoch,
        topics=(
            module.TopicData(
                topic_id=TOPIC,
                partitions=tuple(
                    module.PartitionData(
                        partition_index=place,
                        leader_epoch=led.leader_epoch,
                        new_isr=() if has_epochs else led.proposed or (),
                        new_isr_with_epochs=_members(led) if has_epochs else (),
                        partition_epoch=led.partition_epoch,
                    )
                    for place, led in due.items()
                ),
            ),
        ),
    )


def _members(led: Led) -> tuple[alter_partition_request.BrokerState, ...]:
    return tuple(
        alter_partition_request.BrokerState(
            broker_id=one,
            broker_epoch=FIRST_EPOCH + OWN if one == OWN else led.copies[one].broker_epoch,
        )
        for one in led.proposed or ()
    )


def draw_answer(
    random: Random, message: Message, led: Sequence[Led]
) -> alter_partition_response.AlterPartitionResponse | None:
    """Return a controller's answer, whole or in part, right or late; None for a lost answer."""
    module = alter_partition_response
    kind = random.random()
    if kind < 0.1:
        return None
    if kind < 0.2:
        return module.AlterPartitionResponse(error_code=random.choice(ERRORS))
    assert isinstance(message, Request), "a proposal"
    parts = []
    for asked in message.topics[0].partitions:
        one = led[asked.partition_index]
        is_accepted = random.random() < 0.5
        part = module.PartitionData(
            partition_index=asked.partition_index,
            error_code=ErrorCode.NONE if is_accepted else random.choice(ERRORS),
            leader_id=OWN,
            leader_epoch=one.leader_epoch - (random.random() < 0.1),
            isr=one.proposed or one.isr,
            partition_epoch=one.partition_epoch + random.choice((-1, 0, 1, 1, 1)),
        )
        parts += [part] if random.random() < 0.9 else []
    topic = module.TopicData(topic_id=TOPIC, partitions=tuple(parts))
    return module.AlterPartitionResponse(topics=(topic,))
