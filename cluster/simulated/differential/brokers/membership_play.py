"""Draw the time-outs, images and controllers of a broker that joins, stays and leaves."""

from random import Random
from typing import Final

from immutables import Map
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.brokers.drawn_membership import (
    DIRECTORIES,
    registration_of,
)
from kraftproof.cluster.simulated.differential.brokers.membership_model import (
    STALE_EPOCH,
    STARTING,
    STOPPING,
    UNSUPPORTED,
    Asked,
    Known,
    MembershipModel,
)
from kraftproof.node.core.base.config import NodeConfig, Timeouts
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)
from kraftproof.node.wire.types import Uuid

MS: Final = 1_000_000
REFUSALS: Final = (41, 42, 102, 103, UNSUPPORTED)
OTHER_ERRORS: Final = (41, 8, 31)
DIRECTORIES_FROM: Final = 17
SUPPORTED: Final = range(7, 31)
"""The levels of metadata.version of this node, none of which is a level of the other feature."""
REGISTRATION_VERSION, HEARTBEAT_VERSION = 4, 1


class Chances(Random):
    """Draws the least or the greatest number of a range."""

    is_longest = False

    @override
    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        """Return the first or the last number below an end."""
        return start - 1 if self.is_longest else 0


def draw_times(random: Random) -> Timeouts:
    """Draw the time-outs of a broker."""
    return Timeouts(
        request_ns=random.randint(50, 2000) * MS,
        retry_backoff_ns=random.choice((2, 20, 30)) * MS,
        retry_backoff_max_ns=random.choice((70, 1000)) * MS,
        heartbeat_interval_ns=random.choice((100, 300)) * MS,
        session_ns=random.choice((200, 900)) * MS,
        initial_registration_ns=random.choice((200, 6000)) * MS,
        directory_failure_ns=random.choice((60, 500)) * MS,
    )


def grow_image(
    random: Random, config: NodeConfig, model: MembershipModel
) -> tuple[MetadataImage, int]:
    """Return a newer image, maybe with the registration of the broker, and its end."""
    end = model.known.end + random.choice((0, 1, 1, 3))
    level = random.choice((6, 7, 16, 17, 30, 31))
    features = {"metadata.version": level}
    if random.random() < 0.3:
        features["another.feature"] = 3
    foreign = [f"{name} {found}" for name, found in features.items() if found not in SUPPORTED]
    own = None if model.epoch is None or random.random() < 0.3 else model.epoch
    if own is not None and random.random() < 0.2:
        own -= 1
    has_directories = random.random() < 0.5 or not config.log_dirs
    image = replace(EMPTY_IMAGE, features=Map(features))
    if own is not None:
        directories = DIRECTORIES[:1] if has_directories else ()
        node = config.node_id
        image = replace(image, brokers=Map({node: registration_of(node, own, directories)}))
    model.known = Known(
        leader=model.known.leader,
        end=end,
        own_epoch=own,
        has_directories=has_directories or own is None,
        names_directories=level >= DIRECTORIES_FROM,
        foreign=tuple(foreign),
    )
    return image, end


def draw_answer(
    random: Random, model: MembershipModel, asked: Asked, now_ns: int, epoch: int
) -> Message | None:
    """Answer a request of the broker rightly, wrongly or not; `epoch` is a new broker epoch."""
    if random.random() < 0.25:
        model.lost(asked, now_ns)
        return None
    if asked.is_registration:
        error = random.choice((0, 0, 0, random.choice(REFUSALS)))
        model.registered(asked, error, epoch, now_ns)
        return broker_registration_response.BrokerRegistrationResponse(
            error_code=error, broker_epoch=-1 if error else epoch
        )
    error = random.choice((0, 0, 0, 0, 0, STALE_EPOCH, random.choice(OTHER_ERRORS)))
    is_fenced, may_end = random.random() < 0.5, random.random() < 0.3
    model.answered(asked, error, now_ns, is_fenced=is_fenced, may_end=may_end)
    return broker_heartbeat_response.BrokerHeartbeatResponse(
        error_code=error, is_fenced=is_fenced, should_shut_down=may_end
    )


def request_of(config: NodeConfig, asked: Asked) -> tuple[Message, int]:
    """Return a registration or a heartbeat of the broker, and its version."""
    if not asked.is_registration:
        heartbeat = broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=config.node_id,
            broker_epoch=asked.epoch,
            current_metadata_offset=asked.end - 1,
            want_fence=asked.state == STARTING,
            want_shut_down=asked.state == STOPPING,
            offline_log_dirs=tuple(map(Uuid, asked.failed)),
        )
        return heartbeat, HEARTBEAT_VERSION
    listeners = tuple(
        broker_registration_request.Listener(
            name=one.name, host=one.host, port=one.port, security_protocol=number
        )
        for number, one in enumerate(config.endpoints)
        if not one.is_controller
    )
    feature = broker_registration_request.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=30
    )
    registration = broker_registration_request.BrokerRegistrationRequest(
        broker_id=config.node_id,
        cluster_id=config.cluster_id,
        incarnation_id=config.incarnation,
        listeners=listeners,
        features=(feature,),
        rack=config.rack,
        log_dirs=tuple(one for one in config.log_dirs if one not in asked.failed),
        previous_broker_epoch=config.previous_broker_epoch,
    )
    return registration, REGISTRATION_VERSION
