"""Compare the decisions about registrations of brokers with rules of KIP-631, 584 and 858."""

from random import Random
from typing import Final

from immutables import Map
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.controller.brokers import register
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, BrokerRegistration, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import broker_registration_request as module
from kraftproof.node.wire.messages import broker_registration_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 12
LEVEL: Final = "metadata.version"
OTHER: Final = "group.version"
DIRECTORIES_FROM: Final = 17
LAST_RESERVED: Final = 99
"""The first hundred ids of directories are reserved, such as those of lost and unassigned ones."""
BROKERS: Final = (0, 1, 2, 3)
NEXT: Final = 50


def compare_registering(random: Random) -> None:
    """Register brokers in drawn clusters.

    Raises:
        DifferenceError: a registration has another answer, or another record.
    """
    for _ in range(ROUNDS):
        image = _draw_image(random)
        request = _draw_request(random, image)
        is_live = random.random() < 0.5
        found = register(image, request, cluster_id="c", next_offset=Offset(NEXT), is_live=is_live)
        error = _error(image, request, is_live=is_live)
        known = image.brokers.get(NodeId(request.broker_id))
        is_same = known is not None and known.incarnation == request.incarnation_id
        epoch = known.epoch if known is not None and is_same else NEXT
        answer = broker_registration_response.BrokerRegistrationResponse(
            error_code=error, broker_epoch=-1 if error else epoch
        )
        same("the answer to a registration", found.reply, answer)
        expected: tuple[records.RegisterBrokerRecord, ...] = ()
        if not error:
            record = _record(image, request, epoch)
            if known is not None and is_same:
                shutdown = known.in_controlled_shutdown
                record = replace(record, fenced=known.fenced, in_controlled_shutdown=shutdown)
            expected = (record,)
        same("the records of a registration", found.records, expected)


def _directory(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def _draw_image(random: Random) -> MetadataImage:
    features = {LEVEL: random.choice((7, 16, 17, 18, 30))}
    if random.random() < 0.3:
        features[OTHER] = random.randint(0, 3)
    if random.random() < 0.1:
        del features[LEVEL]
    brokers = {}
    for broker in BROKERS:
        if random.random() < 0.5:
            brokers[NodeId(broker)] = BrokerRegistration(
                broker_id=NodeId(broker),
                incarnation=_directory(random.choice((1, 2))),
                epoch=Offset(broker + 10),
                endpoints=(),
                features=(),
                rack=None,
                fenced=random.random() < 0.5,
                in_controlled_shutdown=random.random() < 0.5,
                log_dirs=(_directory(1000 + broker),),
            )
    return replace(EMPTY_IMAGE, features=Map(features), brokers=Map(brokers))


def _feature(random: Random, name: str, level: int) -> module.Feature:
    least, most = random.choice(((0, level), (level, level), (level, 90), (0, 90)))
    if random.random() < 0.1:
        least, most = random.choice(((0, level - 1), (level + 1, 90)))
    return module.Feature(name=name, min_supported_version=least, max_supported_version=most)


def _draw_request(random: Random, image: MetadataImage) -> module.BrokerRegistrationRequest:
    broker = random.choice((*BROKERS, *BROKERS, -1))
    levels = {LEVEL: image.features.get(LEVEL, 0), OTHER: image.features.get(OTHER, 0)}
    names = [name for name in levels if name == LEVEL or random.random() < 0.6]
    if random.random() < 0.08:
        names.remove(LEVEL)
    own = [_directory(1000 + max(broker, 0)), _directory(2000)][: random.randint(1, 2)]
    if random.random() < 0.3:
        number = random.choice((0, 1, LAST_RESERVED, LAST_RESERVED + 1, 1000, 1001, 2000, 2001))
        own.insert(random.randint(0, 1), _directory(number))
    listeners = tuple(
        module.Listener(name=name, host=f"h-{name}", port=port, security_protocol=port % 4)
        for port, name in enumerate(random.sample(("A", "B", "C"), random.randint(0, 2)), 9092)
    )
    return module.BrokerRegistrationRequest(
        broker_id=broker,
        cluster_id="c" if random.random() < 0.95 else "another",
        incarnation_id=_directory(random.choice((1, 2))),
        listeners=listeners,
        features=tuple(_feature(random, name, levels[name]) for name in names),
        rack=random.choice((None, "r")),
        is_migrating_zk_broker=random.random() < 0.05,
        log_dirs=() if random.random() < 0.1 else tuple(own),
        previous_broker_epoch=random.choice((-1, 3)),
    )


def _error(
    image: MetadataImage, request: module.BrokerRegistrationRequest, *, is_live: bool
) -> ErrorCode:
    """Return the first error of a registration, in Kafka's order."""
    known = image.brokers.get(NodeId(request.broker_id))
    if request.cluster_id != "c":
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    if request.broker_id == -1:
        return ErrorCode.INVALID_REQUEST
    if known is not None and known.incarnation != request.incarnation_id and is_live:
        has_left = known.fenced and known.in_controlled_shutdown
        if not has_left:
            return ErrorCode.DUPLICATE_BROKER_REGISTRATION
    if request.is_migrating_zk_broker:
        return ErrorCode.BROKER_ID_NOT_REGISTERED
    level = image.features.get(LEVEL, 21)
    if level >= DIRECTORIES_FROM and _has_wrong_directories(image, request):
        return ErrorCode.INVALID_REGISTRATION
    ranges = {
        one.name: range(one.min_supported_version, one.max_supported_version + 1)
        for one in request.features
    }
    if any(image.features.get(name, 0) not in found for name, found in ranges.items()):
        return ErrorCode.UNSUPPORTED_VERSION
    if LEVEL not in ranges:
        return ErrorCode.INVALID_REGISTRATION
    is_lacking = not set(image.features) <= set(ranges)
    return ErrorCode.UNSUPPORTED_VERSION if is_lacking else ErrorCode.NONE


def _has_wrong_directories(image: MetadataImage, request: module.BrokerRegistrationRequest) -> bool:
    numbers = [int.from_bytes(one, "big") for one in request.log_dirs]
    of_others = [
        int.from_bytes(directory, "big")
        for broker, registration in image.brokers.items()
        if broker != request.broker_id
        for directory in registration.log_dirs
    ]
    wrong = [one for one in numbers if one <= LAST_RESERVED or one in of_others]
    return not numbers or bool(wrong) or len({*numbers}) < len(numbers)


def _record(
    image: MetadataImage, request: module.BrokerRegistrationRequest, epoch: int
) -> records.RegisterBrokerRecord:
    has_directories = image.features.get(LEVEL, 21) >= DIRECTORIES_FROM
    return records.RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=tuple(
            records.BrokerEndpoint(
                name=one.name, host=one.host, port=one.port, security_protocol=one.security_protocol
            )
            for one in request.listeners
        ),
        features=tuple(
            records.BrokerFeature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ),
        rack=request.rack,
        fenced=True,
        log_dirs=request.log_dirs if has_directories else (),
    )
