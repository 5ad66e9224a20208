"""BrokerRegistration, BrokerHeartbeat, UnregisterBroker (62, 63, 64). No tests here."""

from typing import Any, Final

from msgspec.structs import replace

from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_registration_request,
    unregister_broker_request,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.kafka.differential.case import BROKER, CONTROLLER, Case, Context, every_version

RegistrationRequest = broker_registration_request.BrokerRegistrationRequest
HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
UnregisterBrokerRequest = unregister_broker_request.UnregisterBrokerRequest
Feature = broker_registration_request.Feature

SMALLEST_LEVEL: Final = 7
LARGEST_LEVEL: Final = 30
METADATA: Final = Feature(
    name="metadata.version",
    min_supported_version=SMALLEST_LEVEL,
    max_supported_version=LARGEST_LEVEL,
)
KRAFT: Final = Feature(name="kraft.version", min_supported_version=0, max_supported_version=1)
FAR: Final = 1 << 40
"""A metadata offset that every broker of the test is said to have reached."""


def an_id(number: int) -> Uuid:
    """Return an id that is not one of Kafka's reserved ones."""
    return Uuid(number.to_bytes(8, "big") * 2)


def registration(broker_id: int, **changed: Any) -> RegistrationRequest:
    """Return the registration of a broker that nothing is wrong with, but for what is changed."""
    right = RegistrationRequest(
        broker_id=broker_id,
        incarnation_id=an_id(1000 + broker_id),
        listeners=(
            broker_registration_request.Listener(
                name="PLAINTEXT", host="127.0.0.1", port=9000 + broker_id
            ),
        ),
        features=(METADATA, KRAFT),
        log_dirs=(an_id(2000 + broker_id),),
    )
    return replace(right, **changed)


def register(
    name: str,
    broker_id: int,
    *,
    versions: tuple[int, ...] = (4,),
    to: str = CONTROLLER,
    **changed: Any,
) -> Case:
    """Return the case of a registration."""

    def make(context: Context) -> RegistrationRequest:
        return registration(broker_id, **{"cluster_id": context.cluster_id, **changed})

    return Case(name=f"register: {name}", message=make, versions=versions, to=to)


def heartbeat(
    name: str,
    broker_id: int,
    *,
    versions: tuple[int, ...] = (1,),
    epoch: int | None = None,
    **changed: Any,
) -> Case:
    """Return the case of a heartbeat with the epoch that the broker got, or another one."""

    def make(context: Context) -> HeartbeatRequest:
        known = context.broker_epochs.get(broker_id, -1)
        right = HeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=known if epoch is None else epoch,
            current_metadata_offset=FAR,
        )
        return replace(right, **changed)

    return Case(name=f"heartbeat: {name}", message=make, versions=versions, to=CONTROLLER)


def unregister(name: str, broker_id: int, to: str = BROKER) -> Case:
    """Return the case of an UnregisterBroker."""
    request = UnregisterBrokerRequest(broker_id=broker_id)
    return Case(name=f"unregister: {name}", message=request, versions=(0,), to=to)


JOINING: Final = (
    register("broker 2", 2),
    register("broker 3", 3, rack="r3"),
    heartbeat("not caught up", 2, current_metadata_offset=0),
    heartbeat("wants to be fenced", 2, want_fence=True),
    heartbeat("unfences broker 2", 2),
    heartbeat("unfences broker 3", 3),
    heartbeat("each version", 2, versions=every_version(HeartbeatRequest)),
)
"""First of all: brokers 2 and 3 exist for the requests only, and never run out of time."""

REGISTRATION: Final = (
    register("again", 2),
    register("another incarnation in session", 2, incarnation_id=an_id(1)),
    register("broker 1's id", 1, incarnation_id=an_id(1)),
    register("the wrong cluster", 4, cluster_id="AAAAAAAAAAAAAAAAAAAAAA"),
    register("no cluster", 4, cluster_id=""),
    register("no directory", 4, log_dirs=()),
    register("a reserved directory", 4, log_dirs=(ZERO_UUID,)),
    register("directory 99 of the reserved", 4, log_dirs=(Uuid((99).to_bytes(16, "big")),)),
    register("directory 100", 4, log_dirs=(Uuid((100).to_bytes(16, "big")),)),
    register("a directory twice", 5, log_dirs=(an_id(50), an_id(50))),
    register("another broker's directory", 5, log_dirs=(an_id(2002),)),
    register("no features", 5, features=()),
    register("no metadata.version", 5, features=(KRAFT,)),
    register("no kraft.version", 5, features=(METADATA,)),
    register("an older metadata.version", 6, features=(
        Feature(name="metadata.version", min_supported_version=1, max_supported_version=20), KRAFT,
    )),
    register("a newer metadata.version", 6, features=(
        Feature(name="metadata.version", min_supported_version=22, max_supported_version=30), KRAFT,
    )),
    register("an unknown feature", 6, features=(
        METADATA, KRAFT, Feature(name="other", min_supported_version=1, max_supported_version=2),
    )),
    register("a negative id", -1),
    register("id 2147483647", 2147483647),
    register("no listeners", 7, listeners=()),
    register("a zero incarnation", 8, incarnation_id=ZERO_UUID),
    register("a broker of ZooKeeper", 9, is_migrating_zk_broker=True),
    register("several directories", 9, log_dirs=(an_id(91), an_id(92))),
    register("a previous epoch", 10, previous_broker_epoch=5),
    register("version 0", 11, versions=(0,), log_dirs=()),
    register("version 1", 11, versions=(1,), log_dirs=()),
    register("version 2", 12, versions=(2,)),
    register("version 3", 13, versions=(3,)),
    register("at the broker", 14, to=BROKER),
)  # fmt: skip

HEARTBEATS: Final = (
    heartbeat("the wrong epoch", 2, epoch=1 << 50),
    heartbeat("epoch -1", 2, epoch=-1),
    heartbeat("an unknown broker", 99),
    heartbeat("a negative broker", -1, epoch=0),
    heartbeat("a fenced broker that is behind", 9, current_metadata_offset=-1),
    heartbeat("wants to be fenced and to stop", 9, want_fence=True, want_shut_down=True),
    heartbeat("a fenced broker wants to stop", 10, want_shut_down=True),
    heartbeat("an active broker wants to be fenced", 3, want_fence=True),
    heartbeat("and back", 3),
    heartbeat("offline directories", 12, offline_log_dirs=(an_id(2012),)),
)

LEAVING: Final = (
    unregister("a fenced broker", 13),
    unregister("once more", 13),
    unregister("an unknown broker", 98),
    unregister("an unknown broker at the controller", 98, CONTROLLER),
    unregister("a negative id", -1),
    unregister("an active broker", 3),
    heartbeat("of a broker that is gone", 3),
)
"""Last of all."""
