"""Judge the records that a controller writes without a request (KIP-631, KIP-868).

These are the fencing of brokers whose session has expired, the removal of delegation tokens that
have expired, the abort of a metadata transaction that a former controller left open, and the level
of metadata.version at the beginning of a cluster, with the credentials of its formatting.
"""

from collections.abc import Sequence

from kraftproof.checkers.kraft.specification.brokers import METADATA_VERSION, wrong_result
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import (
    AbortTransactionRecord,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    Row,
)
from kraftproof.checkers.kraft.specification.rows.secrets import (
    RemoveDelegationTokenRecord,
    UserScramCredentialRecord,
)


def wrong_own_records(image: Image, written: Sequence[Row]) -> str | None:
    """Return why no controller may write a batch without a request, or None."""
    left: set[int] = set()
    is_beginning = METADATA_VERSION not in image.features and any(
        isinstance(record, FeatureLevelRecord) for record in written
    )
    for record in written:
        if isinstance(record, BrokerRegistrationChangeRecord):
            wrong = _wrong_fencing(image, record)
            left.add(record.broker_id)
        elif isinstance(record, UserScramCredentialRecord) and is_beginning:
            wrong = None
        else:
            wrong = _wrong_record(image, record, has_cause=bool(left))
        if wrong is not None:
            return wrong
    return wrong_result(image, written, left) if left else None


def _wrong_fencing(image: Image, record: BrokerRegistrationChangeRecord) -> str | None:
    broker = image.brokers.get(record.broker_id)
    if record.fenced != 1 or record.in_controlled_shutdown:
        return f"broker {record.broker_id} was changed without a request: {record}"
    if broker is None or broker.fenced:
        return f"broker {record.broker_id} was fenced, but is no active broker"
    return None


def _wrong_record(image: Image, record: Row, *, has_cause: bool) -> str | None:
    match record:
        case FeatureLevelRecord(name=name, feature_level=level):
            is_right = name == METADATA_VERSION and name not in image.features and level > 0
            return None if is_right else f"the level of {name} was set to {level} without a request"
        case AbortTransactionRecord():
            is_right = image.before is not None
            return None if is_right else "a metadata transaction was aborted, but none is open"
        case RemoveDelegationTokenRecord(token_id=token_id):
            is_right = token_id in image.secrets.tokens
            return None if is_right else f"the token {token_id} was removed, but does not exist"
        case PartitionChangeRecord():
            return None if has_cause else f"a partition was changed without a cause: {record}"
        case _:
            return f"a {type(record).__name__} was written without a request"
