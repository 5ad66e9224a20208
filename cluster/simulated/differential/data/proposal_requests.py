"""Make the request of a leader with its open proposals from the model (KIP-497, KIP-903)."""

from typing import Final

from kraftproof.cluster.simulated.differential.data.controlled import FIRST_EPOCH, TOPIC
from kraftproof.cluster.simulated.differential.data.led_model import OWN, Led
from kraftproof.node.wire.messages import alter_partition_request

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
