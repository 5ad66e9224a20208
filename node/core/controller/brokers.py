"""Decide registration, heartbeats and unregistration of brokers (KIP-631 "Broker Registration").

The functions are pure: (image, request, state of the session) -> Outcome. See sessions.py for the
clock, fencing.py for partitions, and node/core/broker/lifecycle.py for the broker's side.

Simplification: without an authorizer, any broker may unregister any other.
"""

from msgspec.structs import replace

from kraftproof.node.core.base.directory_ids import is_reserved
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.fencing import (
    fence,
    leave,
    lose_directories,
    unfence,
)
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage
from kraftproof.node.core.metadata.version import DIRECTORIES_FROM, METADATA_VERSION, level_of
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    unregister_broker_request,
    unregister_broker_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

RegistrationRequest = broker_registration_request.BrokerRegistrationRequest
HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
HeartbeatResponse = broker_heartbeat_response.BrokerHeartbeatResponse


def register(
    image: MetadataImage,
    request: RegistrationRequest,
    *,
    cluster_id: str,
    next_offset: Offset,
    is_live: bool,
) -> Outcome:
    """Register a broker with the offset of its record as broker epoch (631-42)."""
    broker_id = NodeId(request.broker_id)
    registered = image.brokers.get(broker_id)
    is_same = registered is not None and registered.incarnation == request.incarnation_id
    refused: ErrorCode | None
    if request.cluster_id != cluster_id:
        refused = ErrorCode.INCONSISTENT_CLUSTER_ID
    elif broker_id < 0:
        refused = ErrorCode.INVALID_REQUEST
    elif registered and not is_same and is_live and not shutdown_granted(registered):
        refused = ErrorCode.DUPLICATE_BROKER_REGISTRATION
    else:
        refused = _unacceptable(image, request)
    if refused is not None:
        return Outcome(reply=refusal(request, refused))
    if registered is not None and is_same:
        # The broker may have changed its endpoints or features; epoch, fencing and shutdown state
        # stay.
        again = replace(
            _registration(image, request, registered.epoch),
            fenced=registered.fenced,
            in_controlled_shutdown=registered.in_controlled_shutdown,
        )
        return _registered(broker_id, registered.epoch, (again,))
    # The registration is the first record of its batch, which begins at next_offset. The old
    # incarnation may still lead: its lease has expired, but the fencing is not written yet.
    written = (_registration(image, request, next_offset), *leave(image, broker_id))
    return _registered(broker_id, next_offset, written)


def shutdown_granted(broker: BrokerRegistration) -> bool:
    """Return whether a shutdown was granted, which frees the broker's id at once (631-44)."""
    return broker.in_controlled_shutdown and broker.fenced


def _unacceptable(image: MetadataImage, request: RegistrationRequest) -> ErrorCode | None:
    """Return the error of a registration that is illegal for every broker, in Kafka's order."""
    if request.is_migrating_zk_broker:
        return ErrorCode.BROKER_ID_NOT_REGISTERED
    if level_of(image) >= DIRECTORIES_FROM and not _has_own_directories(image, request):
        return ErrorCode.INVALID_REGISTRATION
    if any(not _spans_level(image, feature) for feature in request.features):
        return ErrorCode.UNSUPPORTED_VERSION
    supported = {feature.name for feature in request.features}
    if METADATA_VERSION not in supported:
        return ErrorCode.INVALID_REGISTRATION
    if any(name not in supported for name in image.features):
        return ErrorCode.UNSUPPORTED_VERSION
    return None


def _has_own_directories(image: MetadataImage, request: RegistrationRequest) -> bool:
    """Return whether the log directories are named by ids of no other broker (KIP-858)."""
    directories = set(request.log_dirs)
    return (
        bool(directories)
        and len(directories) == len(request.log_dirs)
        and not any(map(is_reserved, directories))
        and not any(
            directories.intersection(broker.log_dirs)
            for broker in image.brokers.values()
            if broker.broker_id != request.broker_id
        )
    )


def _spans_level(image: MetadataImage, feature: broker_registration_request.Feature) -> bool:
    """Return whether the supported range contains the cluster's level of the feature.

    0 means unset.
    """
    level = image.features.get(feature.name, 0)
    return feature.min_supported_version <= level <= feature.max_supported_version


def _registration(
    image: MetadataImage, request: RegistrationRequest, epoch: Offset
) -> records.RegisterBrokerRecord:
    """Return the record of a registration; before KIP-858 without log directories."""
    return records.RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=tuple(
            records.BrokerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in request.listeners
        ),
        features=tuple(
            records.BrokerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ),
        rack=request.rack,
        fenced=True,
        log_dirs=request.log_dirs if level_of(image) >= DIRECTORIES_FROM else (),
    )


def _registered(broker_id: NodeId, epoch: Offset, written: tuple[Record, ...]) -> Outcome:
    reply = broker_registration_response.BrokerRegistrationResponse(broker_epoch=epoch)
    return Outcome(reply=reply, records=written, contact=broker_id)


def heartbeat(
    image: MetadataImage, request: HeartbeatRequest, *, moves_are_seen: bool = True
) -> Outcome:
    """Renew a lease; fence, unfence or shut down the broker on request (631-46 to 54).

    `moves_are_seen` tells whether the other brokers know the new leaders of a broker that shuts
    down. Newly failed directories of the broker are taken first.
    """
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None or request.broker_epoch != broker.epoch:
        return Outcome(reply=refusal(request, ErrorCode.STALE_BROKER_EPOCH))
    failed = set(request.offline_log_dirs).intersection(broker.log_dirs)
    if not failed:
        return _renew(image, broker, request, moves_are_seen=moves_are_seen)
    lost = lose_directories(image, broker, failed)
    image = apply_all(image, lost)
    outcome = _renew(image, image.brokers[broker.broker_id], request, moves_are_seen=moves_are_seen)
    return replace(outcome, records=(*lost, *outcome.records))


def _renew(
    image: MetadataImage,
    broker: BrokerRegistration,
    request: HeartbeatRequest,
    *,
    moves_are_seen: bool,
) -> Outcome:
    caught_up = request.current_metadata_offset >= broker.epoch
    if request.want_shut_down or broker.in_controlled_shutdown:
        return _shut_down(
            image, broker, request, caught_up=caught_up, moves_are_seen=moves_are_seen
        )
    written: tuple[Record, ...] = ()
    fenced = broker.fenced
    if fenced and not request.want_fence and caught_up:
        written, fenced = unfence(image, broker), False
    elif not fenced and request.want_fence:
        written, fenced = fence(image, broker), True
    reply = HeartbeatResponse(is_caught_up=caught_up, is_fenced=fenced)
    return Outcome(reply=reply, records=written, contact=broker.broker_id)


def _shut_down(
    image: MetadataImage,
    broker: BrokerRegistration,
    request: HeartbeatRequest,
    *,
    caught_up: bool,
    moves_are_seen: bool,
) -> Outcome:
    """Continue a controlled shutdown: first move the leaderships, then grant the shutdown (631-60).

    A broker that also asks to be fenced is granted at once, as in Kafka. A fenced broker leads no
    partition, and is granted at once, too.

    A granted shutdown is stored as fenced and in controlled shutdown. Grant and fencing are one
    batch, so the commit frees the id even if the answer is lost with the leader.
    """
    begins = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id, broker_epoch=broker.epoch, in_controlled_shutdown=1
    )
    written: tuple[Record, ...] = ()
    granted = broker.fenced
    if not granted:
        has_left = broker.in_controlled_shutdown and not image.leads_any(broker.broker_id)
        may_go = has_left and moves_are_seen
        granted = request.want_fence or (request.want_shut_down and may_go)
        written = fence(image, broker) if granted else ()
    if not broker.in_controlled_shutdown:
        written = (begins, *(written or leave(image, broker.broker_id)))
    reply = HeartbeatResponse(
        is_caught_up=caught_up, is_fenced=broker.fenced or granted, should_shut_down=granted
    )
    return Outcome(reply=reply, records=written, contact=broker.broker_id)


def unregister(
    image: MetadataImage, request: unregister_broker_request.UnregisterBrokerRequest
) -> Outcome:
    """Remove a registration; an unknown broker counts as removed already (631-63)."""
    reply = unregister_broker_response.UnregisterBrokerResponse()
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None:
        return Outcome(reply=reply)
    record = records.UnregisterBrokerRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch)
    return Outcome(reply=reply, records=(record, *leave(image, broker.broker_id)))
