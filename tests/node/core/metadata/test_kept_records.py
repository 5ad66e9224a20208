"""Records that an image keeps as they are: ACLs, SCRAM credentials, tokens, quotas (KIP-631).

Not: who asks for them; no request makes these records yet.
"""

import pytest

from kraftproof.node.core.metadata.apply import apply
from kraftproof.node.wire.records import metadata as records
from tests.node.core.metadata.test_apply import BASE, uuid

QUOTA = records.ClientQuotaRecord(
    entity=(records.EntityData(entity_type="user", entity_name=None),),
    key="producer_byte_rate",
    value=1024.0,
)
PAIRS = [
    pytest.param(
        records.AccessControlEntryRecord(id=uuid(1), resource_name="t", principal="User:a"),
        records.AccessControlEntryRecord(id=uuid(1), resource_name="t", principal="User:b"),
        records.RemoveAccessControlEntryRecord(id=uuid(1)),
        marks=pytest.mark.requirement("631-23"),
        id="acl",
    ),
    pytest.param(
        records.DelegationTokenRecord(owner="User:a", token_id="t1", expiration_timestamp=5),
        records.DelegationTokenRecord(owner="User:a", token_id="t1", expiration_timestamp=9),
        records.RemoveDelegationTokenRecord(token_id="t1"),
        marks=pytest.mark.requirement("631-25"),
        id="token",
    ),
    pytest.param(
        records.UserScramCredentialRecord(name="a", mechanism=1, iterations=4096),
        records.UserScramCredentialRecord(name="a", mechanism=1, iterations=8192),
        records.RemoveUserScramCredentialRecord(name="a", mechanism=1),
        marks=pytest.mark.requirement("631-26"),
        id="scram",
    ),
    pytest.param(
        QUOTA,
        records.ClientQuotaRecord(entity=QUOTA.entity, key=QUOTA.key, value=2048.0),
        records.ClientQuotaRecord(entity=QUOTA.entity, key=QUOTA.key, value=7.0, remove=True),
        marks=pytest.mark.requirement("631-29"),
        id="quota",
    ),
]


@pytest.mark.parametrize(("added", "changed", "removed"), PAIRS)
def test_what_is_added_is_kept_until_it_is_removed(added, changed, removed) -> None:
    kept = apply(BASE, added)
    assert kept.digest != BASE.digest
    other = apply(kept, changed)
    assert other.digest not in {kept.digest, BASE.digest}
    assert apply(BASE, changed).digest == other.digest, "the last one counts"
    gone = apply(other, removed)
    assert gone == BASE
    assert gone.digest == BASE.digest


@pytest.mark.requirement("631-26")
def test_things_of_one_kind_do_not_replace_each_other() -> None:
    first = records.UserScramCredentialRecord(name="a", mechanism=1, iterations=4096)
    second = records.UserScramCredentialRecord(name="a", mechanism=2, iterations=4096)
    both = apply(apply(BASE, first), second)
    assert apply(apply(BASE, second), first) == both
    removal = records.RemoveUserScramCredentialRecord(name="a", mechanism=1)
    assert apply(both, removal) == apply(BASE, second)
