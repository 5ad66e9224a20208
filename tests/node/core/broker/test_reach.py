"""A replica that clients cannot reach is offline, whatever the records say of its directory."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING
from kraftproof.node.core.broker.reach import reach_of
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import TOPIC, image_of, partition, topic

HERE, GONE = Uuid(b"h" * 16), Uuid(b"g" * 16)


def registered(broker_id, *, fenced=False, listener="CLIENTS"):
    return records.RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=Uuid(b"i" * 16),
        broker_epoch=broker_id,
        end_points=(records.BrokerEndpoint(name=listener, host="h", port=9000),),
        features=(),
        fenced=fenced,
        log_dirs=(HERE,),
    )


@pytest.mark.parametrize(
    ("directories", "offline"),
    [
        ((HERE, HERE, HERE, HERE), (5, 6)),
        ((LOST, HERE, HERE, HERE), (4, 5, 6)),
        ((GONE, MIGRATING, MIGRATING, GONE), (4, 5, 6, 7)),
        ((), (5, 6)),
        ((HERE,), (5, 6)),
        ((GONE,), (4, 5, 6)),
    ],
)
def test_offline_replicas_by_fence_listener_and_directory(directories, offline):
    image = image_of(
        registered(4),
        registered(5, fenced=True),
        registered(6, listener="OTHERS"),
        registered(7),
        topic(),
        replace(
            partition(isr=(4,), leader=4, replicas=(4, 5, 6, 7), index=0),
            directories=directories,
        ),
    )
    (held,) = image.partitions_of(TOPIC)
    assert reach_of(image, "CLIENTS").offline_replicas(held) == offline
