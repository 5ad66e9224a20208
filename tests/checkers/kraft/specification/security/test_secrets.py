"""The specification of credentials and delegation tokens: each wrong record and answer is named."""

import hashlib

import pytest
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.partitions.likely import likely_requests
from kraftproof.checkers.kraft.specification.specification import Specification
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request as scram,
)
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_response,
    create_delegation_token_request,
    create_delegation_token_response,
    expire_delegation_token_request,
    renew_delegation_token_request,
    renew_delegation_token_response,
)
from kraftproof.node.wire.records import metadata as records

SPECIFICATION = Specification(Facts(cluster_id="c"))
SALT = b"twelve bytes"
SALTED = hashlib.pbkdf2_hmac("sha256", b"pw", SALT, 4096)
UPSERTION = scram.ScramCredentialUpsertion(
    name="u", mechanism=1, iterations=4096, salt=SALT, salted_password=SALTED
)
TOKEN = records.DelegationTokenRecord(
    owner="User:o",
    requester="User:o",
    renewers=("User:r",),
    issue_timestamp=1000,
    max_timestamp=5000,
    expiration_timestamp=2000,
    token_id="t",
)


def right_credential(**changes):
    import hmac

    client_key = hmac.digest(SALTED, b"Client Key", "sha256")
    fields = {
        "name": "u",
        "mechanism": 1,
        "salt": SALT,
        "stored_key": hashlib.sha256(client_key).digest(),
        "server_key": hmac.digest(SALTED, b"Server Key", "sha256"),
        "iterations": 4096,
    }
    return records.UserScramCredentialRecord(**(fields | changes))


def image(*written):
    return SPECIFICATION.after(SPECIFICATION.empty, SPECIFICATION.rows(written))


def wrong_records(request, *written, before=()):
    (asked,) = SPECIFICATION.rows((request,)) if request is not None else (None,)
    return SPECIFICATION.wrong_records(image(*before), 5, asked, SPECIFICATION.rows(written))


def wrong_answer(request, answer, *written, before=()):
    asked, told = SPECIFICATION.rows((request, answer))
    return SPECIFICATION.wrong_answer(image(*before), asked, SPECIFICATION.rows(written), told)


SET = scram.AlterUserScramCredentialsRequest(deletions=(), upsertions=(UPSERTION,))
REMOVE = scram.AlterUserScramCredentialsRequest(
    deletions=(scram.ScramCredentialDeletion(name="u", mechanism=1),), upsertions=()
)
REMOVED = records.RemoveUserScramCredentialRecord(name="u", mechanism=1)


def test_a_credential_has_the_keys_of_its_salted_password():
    assert wrong_records(SET, right_credential()) is None
    for changes in ({"iterations": 4097}, {"salt": b"x" * 12}, {"stored_key": b""}, {"name": "v"}):
        assert wrong_records(SET, right_credential(**changes)) is not None
    assert "not changed" in wrong_records(SET)
    assert wrong_records(SET, REMOVED) is not None


def test_only_a_known_credential_can_be_removed():
    assert wrong_records(REMOVE, REMOVED, before=(right_credential(),)) is None
    assert "not changed" in wrong_records(REMOVE, before=(right_credential(),))
    assert wrong_records(REMOVE, REMOVED) is not None
    assert wrong_records(None, REMOVED, before=(right_credential(),)) is not None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"iterations": 4095}, 93),
        ({"iterations": 16385}, 93),
        ({"salt": b"short"}, 93),
        ({"name": ""}, 93),
        ({"mechanism": 3}, 33),
    ],
)
def test_each_illegal_credential_has_its_code(changes, code):
    request = replace(SET, upsertions=(replace(UPSERTION, **changes),))
    module = alter_user_scram_credentials_response
    for told in (0, 33, 92, 93):
        result = module.AlterUserScramCredentialsResult(
            user=changes.get("name", "u"), error_code=told
        )
        answer = module.AlterUserScramCredentialsResponse(results=(result,))
        assert (wrong_answer(request, answer) is None) == (told == code)


CREATE = create_delegation_token_request.CreateDelegationTokenRequest(
    renewers=(
        create_delegation_token_request.CreatableRenewers(
            principal_type="User", principal_name="r"
        ),
    ),
    max_lifetime_ms=4000,
)
RENEW = renew_delegation_token_request.RenewDelegationTokenRequest(hmac=b"", renew_period_ms=1)
END = expire_delegation_token_request.ExpireDelegationTokenRequest(
    hmac=b"", expiry_time_period_ms=-1
)
ENDED = records.RemoveDelegationTokenRecord(token_id="t")


def test_a_created_token_is_as_asked_for():
    assert wrong_records(CREATE, TOKEN) is None
    assert wrong_records(CREATE) is None
    assert "exists" in wrong_records(CREATE, TOKEN, before=(TOKEN,))
    for changes in (
        {"max_timestamp": 5001},
        {"expiration_timestamp": 5001},
        {"renewers": ()},
        {"issue_timestamp": 3000},
    ):
        assert wrong_records(CREATE, replace(TOKEN, **changes)) is not None


def test_a_renewal_moves_the_expiry_and_nothing_else():
    later = replace(TOKEN, expiration_timestamp=5000)
    assert wrong_records(RENEW, later, before=(TOKEN,)) is None
    beyond = replace(TOKEN, expiration_timestamp=5001)
    assert "beyond" in wrong_records(RENEW, beyond, before=(TOKEN,))
    longer = replace(later, max_timestamp=9000)
    assert "more than the expiry" in wrong_records(RENEW, longer, before=(TOKEN,))
    assert "no token" in wrong_records(RENEW, later)
    assert wrong_records(RENEW, ENDED, before=(TOKEN,)) is not None


def test_only_a_negative_period_removes_a_token():
    assert wrong_records(END, ENDED, before=(TOKEN,)) is None
    assert wrong_records(END, TOKEN, before=(TOKEN,)) is not None
    later = replace(END, expiry_time_period_ms=7)
    assert wrong_records(later, ENDED, before=(TOKEN,)) is not None


def test_the_controller_itself_removes_tokens_only():
    assert wrong_records(None, ENDED, before=(TOKEN,)) is None
    assert wrong_records(None, ENDED) is not None
    assert wrong_records(None, replace(TOKEN, expiration_timestamp=3), before=(TOKEN,)) is not None


def test_an_answer_has_the_times_of_the_record():
    module = create_delegation_token_response
    right = module.CreateDelegationTokenResponse(
        error_code=0,
        token_id="t",
        issue_timestamp_ms=1000,
        expiry_timestamp_ms=2000,
        max_timestamp_ms=5000,
    )
    assert wrong_answer(CREATE, right, TOKEN) is None
    assert wrong_answer(CREATE, replace(right, max_timestamp_ms=5001), TOKEN) is not None
    assert wrong_answer(CREATE, replace(right, error_code=61), TOKEN) is not None
    assert wrong_answer(CREATE, replace(right, error_code=61)) is None
    assert wrong_answer(CREATE, right) is not None
    renewed = renew_delegation_token_response.RenewDelegationTokenResponse(
        error_code=0, expiry_timestamp_ms=2000
    )
    assert wrong_answer(RENEW, renewed, TOKEN, before=(TOKEN,)) is None
    late = replace(renewed, expiry_timestamp_ms=2001)
    assert wrong_answer(RENEW, late, TOKEN, before=(TOKEN,)) is not None


@pytest.mark.parametrize(
    ("before", "written"),
    [((), TOKEN), ((TOKEN,), TOKEN), ((TOKEN,), ENDED), ((right_credential(),), REMOVED)],
)
def test_a_log_without_requests_has_a_likely_request(before, written):
    rows = SPECIFICATION.rows((written,))
    found = likely_requests(image(*before), rows)
    assert any(
        SPECIFICATION.wrong_records(image(*before), 5, request, rows) is None for request in found
    )


def test_credentials_without_a_request_belong_to_the_first_level_of_the_cluster():
    level = records.FeatureLevelRecord(name="metadata.version", feature_level=21)
    assert wrong_records(None, level, right_credential()) is None
    assert "without a request" in wrong_records(None, right_credential())
    assert "without a request" in wrong_records(None, right_credential(), before=(level,))
