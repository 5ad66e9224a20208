"""Keep entities as their last record, by a key of the record (KIP-631).

The node replays these records without use: quotas, credentials, tokens, access control entries,
producer ids, controller registrations. See apply.py for entities with their own fields.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.changes import set_acl, set_other, set_quota
from kraftproof.node.core.metadata.image import PRODUCER_IDS, MetadataImage, OtherKey
from kraftproof.node.wire.records import metadata as records

Handler = Callable[[MetadataImage, Any], MetadataImage]
"""Takes the record type of the dict's key, which the type of a dict cannot express."""


def config_key(resource: tuple[int, str], name: str) -> OtherKey:
    """Return the key of a ConfigRecord with unknown tagged fields, stored beside its value."""
    return ("config", *resource, name)


def feature_key(name: str) -> OtherKey:
    """Return the key of a FeatureLevelRecord with unknown tagged fields."""
    return ("feature", name)


def _producer_ids(image: MetadataImage, record: records.ProducerIdsRecord) -> MetadataImage:
    if record.next_producer_id <= image.next_producer_id:
        raise ApplyError(
            f"the next producer id becomes {record.next_producer_id}, "
            f"but {image.next_producer_id} was reached already"
        )
    return set_other(image, PRODUCER_IDS, record)


def _keeps(key: Callable[[Any], OtherKey]) -> Handler:
    return lambda image, record: set_other(image, key(record), record)


def _drops(key: Callable[[Any], OtherKey]) -> Handler:
    return lambda image, record: set_other(image, key(record), None)


KEPT_RECORDS: Final[Mapping[type, Handler]] = {
    records.ClientQuotaRecord: set_quota,
    records.ProducerIdsRecord: _producer_ids,
    records.ZkMigrationStateRecord: _keeps(lambda _: ("zk migration",)),
    records.RegisterControllerRecord: _keeps(lambda record: ("controller", record.controller_id)),
    records.DelegationTokenRecord: _keeps(lambda record: ("token", record.token_id)),
    records.RemoveDelegationTokenRecord: _drops(lambda record: ("token", record.token_id)),
    records.UserScramCredentialRecord: _keeps(lambda r: ("scram", r.name, r.mechanism)),
    records.RemoveUserScramCredentialRecord: _drops(lambda r: ("scram", r.name, r.mechanism)),
    records.AccessControlEntryRecord: lambda image, record: set_acl(image, record.id, record),
    records.RemoveAccessControlEntryRecord: lambda image, record: set_acl(image, record.id, None),
}
