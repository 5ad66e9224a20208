"""Guess the request of a broker behind the records of a batch."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.image import Image

UNKNOWN_CLUSTER: Final = ""
"""The cluster id of all requests that are made up from records."""
_CAUGHT_UP: Final = 1 << 62
"""A metadata offset beyond every registration."""


def broker_request(written: Sequence[rows.Row]) -> rows.Row | None:
    """Return the most likely request, or None for records of another cause."""
    for record in written:
        match record:
            case rows.RegisterBrokerRecord():
                return rows.BrokerRegistrationRequest(
                    broker_id=record.broker_id,
                    cluster_id=UNKNOWN_CLUSTER,
                    incarnation_id=record.incarnation_id,
                    listeners=record.end_points,
                    features=record.features,
                    rack=record.rack,
                    log_dirs=record.log_dirs,
                )
            case rows.UnregisterBrokerRecord():
                return rows.UnregisterBrokerRequest(broker_id=record.broker_id)
            case rows.BrokerRegistrationChangeRecord():
                return _heartbeat(record, written)
            case _:
                continue
    return None


def _heartbeat(
    record: rows.BrokerRegistrationChangeRecord, written: Sequence[rows.Row]
) -> rows.BrokerHeartbeatRequest | None:
    """Return the heartbeat behind a change; a plain fencing is the controller's own."""
    changes = [one for one in written if isinstance(one, rows.BrokerRegistrationChangeRecord)]
    is_fenced = any(one.fenced > 0 for one in changes)
    stops = record.in_controlled_shutdown > 0
    if is_fenced and not stops:
        return None
    return rows.BrokerHeartbeatRequest(
        broker_id=record.broker_id,
        broker_epoch=record.broker_epoch,
        current_metadata_offset=_CAUGHT_UP,
        want_fence=is_fenced,
        want_shut_down=stops,
    )


def with_failed_directories(
    image: Image, request: rows.BrokerHeartbeatRequest, written: Sequence[rows.Row]
) -> rows.BrokerHeartbeatRequest:
    """Return a heartbeat that tells of the directories which its broker loses in the batch.

    A fenced broker that stays fenced has asked for that.
    """
    broker = image.brokers.get(request.broker_id)
    changes = [one for one in written if isinstance(one, rows.BrokerRegistrationChangeRecord)]
    left = next((one.log_dirs for one in changes if one.log_dirs), None)
    if broker is None or left is None:
        return request
    stays = broker.fenced and not any(one.fenced for one in changes)
    return replace(
        request,
        want_fence=request.want_fence or stays,
        offline_log_dirs=tuple(one for one in broker.log_dirs if one not in left),
    )
