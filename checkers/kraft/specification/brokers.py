"""Judge BrokerRegistration, BrokerHeartbeat and UnregisterBroker (KIP-631).

Whether a session has expired depends on time and is open: see the invariants and the model of
registrations for leases.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name, code_names
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.image import Broker, ContradictionError, Image
from kraftproof.checkers.kraft.specification.leaderships import (
    NOTHING_LOST,
    wrong_partition_changes,
)
from kraftproof.checkers.kraft.specification.rows import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    Row,
    UnregisterBrokerRecord,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)

METADATA_VERSION: Final = "metadata.version"
LEVEL_OF_DIRECTORIES: Final = 17
RESERVED_DIRECTORIES: Final = 100
"""Number of directory ids that Kafka reserves, from 0 on (KIP-858)."""


def registration_codes(
    image: Image, facts: Facts, request: BrokerRegistrationRequest
) -> tuple[frozenset[Code], frozenset[Code]]:
    """Return the codes that must and that may refuse a registration (631-43, 631-44)."""
    required: set[Code] = set()
    allowed: set[Code] = set()
    if request.cluster_id != facts.cluster_id:
        required.add(Code.INCONSISTENT_CLUSTER_ID)
    if request.broker_id < 0:
        required.add(Code.INVALID_REQUEST)
    registered = image.brokers.get(request.broker_id)
    is_same = registered is None or registered.incarnation == request.incarnation_id
    if registered is not None and not is_same and not registered.is_gone:
        allowed.add(Code.DUPLICATE_BROKER_REGISTRATION)
    if request.is_migrating_zk_broker:
        required.add(Code.BROKER_ID_NOT_REGISTERED)
    if _has_directories(image) and not _has_own_directories(image, request):
        required.add(Code.INVALID_REGISTRATION)
    supported = {one.name: one for one in request.features}
    if METADATA_VERSION not in supported:
        required.add(Code.INVALID_REGISTRATION)
    spans = all(
        one.min_supported_version <= image.features.get(one.name, 0) <= one.max_supported_version
        for one in request.features
    )
    if not spans or any(name not in supported for name in image.features):
        required.add(Code.UNSUPPORTED_VERSION)
    return frozenset(required), frozenset(allowed)


def _has_directories(image: Image) -> bool:
    """Return whether brokers register log directories at the level of the cluster (KIP-858)."""
    return image.features.get(METADATA_VERSION, LEVEL_OF_DIRECTORIES) >= LEVEL_OF_DIRECTORIES


def _has_own_directories(image: Image, request: BrokerRegistrationRequest) -> bool:
    directories = request.log_dirs
    taken = {
        directory
        for broker in image.brokers.values()
        if broker.broker_id != request.broker_id
        for directory in broker.log_dirs
    }
    return (
        bool(directories)
        and len(set(directories)) == len(directories)
        and not taken.intersection(directories)
        and not any(map(is_reserved, directories))
    )


def is_reserved(directory: object) -> bool:
    """Return whether a directory id is one of Kafka's own (KIP-858)."""
    if isinstance(directory, bytes):
        return int.from_bytes(directory, "big") < RESERVED_DIRECTORIES
    return str(directory).startswith("A" * 20)


def wrong_registration(
    image: Image,
    facts: Facts,
    offset: int,
    request: BrokerRegistrationRequest,
    written: Sequence[Row],
) -> str | None:
    """Return why a batch at an offset is no right result of a registration, or None."""
    required, allowed = registration_codes(image, facts, request)
    if not written:
        why = required | allowed
        return None if why else f"broker {request.broker_id} was not registered, without a cause"
    if required:
        return f"broker {request.broker_id} was registered in spite of {code_names(required)}"
    made = [record for record in written if isinstance(record, RegisterBrokerRecord)]
    if len(made) != 1 or len(written) != 1 + _changes(written):
        return f"a registration has written {_kinds(written)}"
    was = image.brokers.get(request.broker_id)
    again = was if was is not None and was.incarnation == request.incarnation_id else None
    wrong = _wrong_record(image, request, made[0], again, offset)
    if wrong is not None:
        return f"broker {request.broker_id} {wrong}"
    left = {request.broker_id} if again is None else set()
    return wrong_result(image, written, left)


def _changes(written: Sequence[Row]) -> int:
    return sum(isinstance(record, PartitionChangeRecord) for record in written)


def _kinds(written: Sequence[Row]) -> str:
    return ", ".join(type(record).__name__ for record in written)


def wrong_result(
    image: Image,
    written: Sequence[Row],
    left: set[int],
    lost: Mapping[int, frozenset[Id]] = NOTHING_LOST,
) -> str | None:
    """Return why the partitions are wrong after a batch in which brokers left, or None.

    `lost` has the log directories that brokers have lost.
    """
    if not written:
        return None
    try:
        after = fold(image, written)
    except ContradictionError as contradiction:
        return str(contradiction)
    return wrong_partition_changes(image, after, left, lost)


def _wrong_record(
    image: Image,
    request: BrokerRegistrationRequest,
    record: RegisterBrokerRecord,
    again: Broker | None,
    offset: int,
) -> str | None:
    """Compare a registration with its request; the same incarnation keeps epoch and state."""
    epoch, fenced, leaves = (
        (offset, True, False) if again is None else (again.epoch, again.fenced, again.is_leaving)
    )
    if record.broker_id != request.broker_id or record.incarnation_id != request.incarnation_id:
        return f"asked for its registration, but {record.broker_id} was registered"
    if record.broker_epoch != epoch:
        return f"has the broker epoch {record.broker_epoch}, not {epoch}"
    found = (record.fenced, record.in_controlled_shutdown)
    if found != (fenced, leaves):
        return f"is registered with fenced, shutting down: {found}, not {(fenced, leaves)}"
    log_dirs = request.log_dirs if _has_directories(image) else ()
    if record.rack != request.rack or record.log_dirs != log_dirs:
        return f"is registered in rack {record.rack} with {len(record.log_dirs)} directories"
    listeners = [(one.name, one.host, one.port) for one in request.listeners]
    if [(one.name, one.host, one.port) for one in record.end_points] != listeners:
        return f"is registered with other listeners than {listeners}"
    if [(one.name, one.max_supported_version) for one in record.features] != [
        (one.name, one.max_supported_version) for one in request.features
    ]:
        return "is registered with other features than it has"
    return None


def wrong_registration_answer(
    image: Image,
    facts: Facts,
    request: BrokerRegistrationRequest,
    written: Sequence[Row],
    answer: BrokerRegistrationResponse,
) -> str | None:
    """Return why an answer to a registration is wrong, or None."""
    required, allowed = registration_codes(image, facts, request)
    who, code = f"broker {request.broker_id}", answer.error_code
    made = [record for record in written if isinstance(record, RegisterBrokerRecord)]
    if code == Code.NONE:
        if not made:
            return f"{who}: a registration is acknowledged, but was not written"
        if answer.broker_epoch != made[0].broker_epoch:
            epoch = made[0].broker_epoch
            return f"{who}: has the epoch {epoch}, but {answer.broker_epoch} is answered"
        return None
    if made:
        return f"{who}: is refused with {code_name(code)}, but was registered"
    if code not in required | allowed:
        expected = code_names(required | allowed) or "nothing"
        return f"{who}: is refused with {code_name(code)}, but {expected} applies"
    return None


def wrong_unregistration(
    image: Image, request: UnregisterBrokerRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of UnregisterBroker, or None (631-63, 631-64)."""
    broker = image.brokers.get(request.broker_id)
    if broker is None:
        return "an unknown broker was unregistered" if written else None
    made = [record for record in written if isinstance(record, UnregisterBrokerRecord)]
    if len(made) != 1 or len(written) != 1 + _changes(written):
        kinds = _kinds(written) or "nothing"
        return f"broker {request.broker_id}: an unregistration has written {kinds}"
    if made[0].broker_id != request.broker_id:
        return f"broker {made[0].broker_id} was unregistered, not {request.broker_id}"
    return wrong_result(image, written, {request.broker_id})


def wrong_unregistration_answer(
    image: Image, request: UnregisterBrokerRequest, answer: UnregisterBrokerResponse
) -> str | None:
    """Return why an answer to UnregisterBroker is wrong, or None; an unknown broker may be none."""
    codes = {Code.NONE}
    if request.broker_id not in image.brokers:
        codes.add(Code.BROKER_ID_NOT_REGISTERED)
    if answer.error_code in codes:
        return None
    return f"broker {request.broker_id}: {code_name(answer.error_code)} is answered"
