"""SCRAM credentials and delegation tokens of a live cluster, from their creation to their end."""

import base64
import hashlib
import time

import pytest

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.scram import token_password
from kraftproof.node.tools.client import Client, ClientError
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request as alter,
)
from kraftproof.node.wire.messages import (
    create_delegation_token_request as create,
)
from kraftproof.node.wire.messages import (
    describe_delegation_token_request as describe,
)
from kraftproof.node.wire.messages import (
    describe_user_scram_credentials_request as describe_scram,
)
from kraftproof.node.wire.messages import (
    expire_delegation_token_request as expire,
)
from kraftproof.node.wire.messages import (
    renew_delegation_token_request as renew,
)
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from tests.node.server.security.conftest import (
    ADMIN_PASSWORD,
    ALICE_PASSWORD,
    SCRAM_MODULE,
    SecureCluster,
    run_tool,
    sasl_entries,
)

TOKEN_SECRET = "token-secret-77aa"
TOKENS = {
    "delegation_token_secret_key": TOKEN_SECRET,
    "delegation_token_max_lifetime_ms": "600000",
    "delegation_token_expiry_time_ms": "300000",
    "delegation_token_expiry_check_interval_ms": "200",
}
NUMBERS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
HASHES = {1: "sha256", 2: "sha512"}
SCRAM_PASSWORD = "scram-secret-0c5e"
SALT = b"a salt of twenty-one b"


def upsertion(user: str, number: int, password: str) -> alter.ScramCredentialUpsertion:
    salted = hashlib.pbkdf2_hmac(HASHES[number], password.encode(), SALT, 4096)
    return alter.ScramCredentialUpsertion(
        name=user, mechanism=number, iterations=4096, salt=SALT, salted_password=salted
    )


def change(admin: Client, **parts: object) -> list[int]:
    answer = admin.ask(alter.AlterUserScramCredentialsRequest(**parts))  # type: ignore[arg-type]
    return [result.error_code for result in answer.results]  # type: ignore[attr-defined]


def logs_in(secure: SecureCluster, entries: dict[str, str], index: int) -> bool:
    try:
        client = secure.client(secure.trusting(entries), index)
    except ClientError as error:
        if "SASL_AUTHENTICATION_FAILED" not in str(error):
            raise
        return False
    with client:
        try:
            return client.ask(DescribeClusterRequest()) is not None
        except ClientError as error:  # the session ends with its token, perhaps just now
            if "the node closed the connection" not in str(error):
                raise
            return False


def soon(secure: SecureCluster, entries: dict[str, str], index: int, *, wanted: bool) -> bool:
    """Whether logins come to be accepted, or refused, within some seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if logs_in(secure, entries, index) is wanted:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.requirement("590-19")
@pytest.mark.requirement("631-78")
@pytest.mark.requirement("631-86")
def test_a_user_logs_in_at_every_broker_until_the_credential_is_removed(
    secure: SecureCluster,
) -> None:
    secure.add(3)
    secure.start()
    admin_entries = secure.trusting(sasl_entries("SASL_SSL", "admin", ADMIN_PASSWORD))
    with secure.client(admin_entries) as admin:
        for mechanism, number in NUMBERS.items():
            entries = sasl_entries("SASL_SSL", "sam", SCRAM_PASSWORD, mechanism)
            assert not logs_in(secure, entries, 0)
            assert change(admin, upsertions=(upsertion("sam", number, SCRAM_PASSWORD),)) == [0]
            for index in range(3):
                assert soon(secure, entries, index, wanted=True)
            assert not logs_in(secure, {**entries, "sasl.mechanism": "PLAIN"} | plain(), 0)
        wrong = sasl_entries("SASL_SSL", "sam", "wrong", "SCRAM-SHA-256")
        assert not logs_in(secure, wrong, 0)
        answer = admin.ask(describe_scram.DescribeUserScramCredentialsRequest(users=None))
        told = [(one.user, len(one.credential_infos)) for one in answer.results]  # type: ignore[attr-defined]
        assert told == [("sam", 2)]
        removed = alter.ScramCredentialDeletion(name="sam", mechanism=1)
        entries = sasl_entries("SASL_SSL", "sam", SCRAM_PASSWORD, "SCRAM-SHA-256")
        with secure.client(secure.trusting(entries)) as stays:
            assert change(admin, deletions=(removed,)) == [0]
            for index in range(3):
                assert soon(secure, entries, index, wanted=False)
            assert stays.ask(DescribeClusterRequest()), "an open connection stays open"
        assert change(admin, deletions=(removed,)) == [ErrorCode.RESOURCE_NOT_FOUND]
        bad = alter.ScramCredentialUpsertion(
            name="sam", mechanism=1, iterations=4095, salt=SALT, salted_password=b"x"
        )
        assert change(admin, upsertions=(bad,)) == [ErrorCode.UNACCEPTABLE_CREDENTIAL]
    leader = next(
        index for index, node in enumerate(secure.nodes) if node.trace()[-1]["role"] == "leader"
    )
    secure.nodes[leader].end()
    entries = sasl_entries("SASL_SSL", "sam", SCRAM_PASSWORD, "SCRAM-SHA-512")
    alive = [index for index in range(3) if index != leader]
    admin_at = alive[0]
    deadline = time.monotonic() + 20
    codes = [-1]
    while codes != [0] and time.monotonic() < deadline:
        with secure.client(admin_entries, admin_at) as admin:
            codes = change(admin, upsertions=(upsertion("tom", 2, SCRAM_PASSWORD),))
    assert codes == [0], "after a failover the cluster goes on, over TLS and SASL alone"
    assert logs_in(secure, entries, alive[1])


def plain() -> dict[str, str]:
    return {
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="sam" password="{SCRAM_PASSWORD}";'
    }


def token_entries(token_id: str, hmac: bytes) -> dict[str, str]:
    password = base64.b64encode(hmac).decode()
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{SCRAM_MODULE} required username="{token_id}" '
        f'password="{password}" tokenauth="true";',
    }


@pytest.mark.requirement("631-87")
def test_a_token_is_created_renewed_expired_and_described(secure: SecureCluster) -> None:
    secure.add(1, **TOKENS)
    secure.start()
    by_alice = secure.trusting(sasl_entries("SASL_SSL", "alice", ALICE_PASSWORD))
    by_admin = secure.trusting(sasl_entries("SASL_SSL", "admin", ADMIN_PASSWORD))
    with secure.client(by_alice) as alice, secure.client(by_admin) as admin:
        made = alice.ask(create.CreateDelegationTokenRequest())
        assert made.error_code == 0, made  # type: ignore[attr-defined]
        assert made.principal_name == "alice"  # type: ignore[attr-defined]
        assert made.max_timestamp_ms - made.issue_timestamp_ms == 600_000  # type: ignore[attr-defined]
        hmac, token_id = made.hmac, made.token_id  # type: ignore[attr-defined]
        for version in (1, 2):  # older answers name no requester
            older = alice.ask(create.CreateDelegationTokenRequest(), version)
            assert older.error_code == 0  # type: ignore[attr-defined]
            spent = expire.ExpireDelegationTokenRequest(
                hmac=older.hmac,  # type: ignore[attr-defined]
                expiry_time_period_ms=-1,
            )
            seen = alice.ask(describe.DescribeDelegationTokenRequest(owners=None), version)
            assert seen.error_code == 0  # type: ignore[attr-defined]
            assert alice.ask(spent).error_code == 0  # type: ignore[attr-defined]
        assert base64.b64encode(hmac).decode() == token_password(Secret(TOKEN_SECRET), token_id)
        entries = token_entries(token_id, hmac)
        assert soon(secure, entries, 0, wanted=True)
        assert not logs_in(secure, token_entries(token_id, hmac[::-1]), 0)
        with secure.client(secure.trusting(entries)) as bearer:
            refused = bearer.ask(create.CreateDelegationTokenRequest())
            assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED  # type: ignore[attr-defined]
        foreign = admin.ask(renew.RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=1))
        assert foreign.error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH  # type: ignore[attr-defined]
        renewed = alice.ask(renew.RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=10**12))
        assert renewed.error_code == 0  # type: ignore[attr-defined]
        assert renewed.expiry_timestamp_ms <= made.max_timestamp_ms  # type: ignore[attr-defined]
        seen = alice.ask(describe.DescribeDelegationTokenRequest(owners=None))
        assert [token.token_id for token in seen.tokens] == [token_id]  # type: ignore[attr-defined]
        soon_over = alice.ask(
            expire.ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=300)
        )
        assert soon_over.error_code == 0  # type: ignore[attr-defined]
        assert soon(secure, entries, 0, wanted=False)
        deadline = time.monotonic() + 10
        tokens = seen.tokens  # type: ignore[attr-defined]
        while tokens and time.monotonic() < deadline:
            time.sleep(0.1)
            tokens = alice.ask(describe.DescribeDelegationTokenRequest(owners=None)).tokens  # type: ignore[attr-defined]
        assert not tokens, "the sweep removes a token whose time is over"
        gone = alice.ask(renew.RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=1))
        assert gone.error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND  # type: ignore[attr-defined]


@pytest.mark.long
def test_controllers_log_in_with_scram_from_the_format_step(secure: SecureCluster) -> None:
    secure.add(
        3,
        sasl_mechanism_controller_protocol="SCRAM-SHA-256",
        sasl_mechanism_inter_broker_protocol="SCRAM-SHA-512",
    )
    argument = "=[name=node,password=node-secret-41f2]"
    for node in secure.nodes:
        text = node.properties.read_text()
        line = f'{SCRAM_MODULE} required username="node" password="node-secret-41f2";'
        for listener in ("clients", "controller"):
            for mechanism in ("scram-sha-256", "scram-sha-512"):
                text += f"listener.name.{listener}.{mechanism}.sasl.jaas.config={line}\n"
        node.properties.write_text(text)
        for path in (node.directory / "data").rglob("*"):
            if path.is_file():
                path.unlink()
        told = run_tool(
            "storage",
            *("format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", str(node.properties)),
            *("--add-scram", f"SCRAM-SHA-256{argument}", "-S", f"SCRAM-SHA-512{argument}"),
        )
        assert told.returncode == 0, told.stderr
        assert "node-secret" not in told.stdout + told.stderr
    secure.start()
    entries = sasl_entries("SASL_SSL", "node", "node-secret-41f2", "SCRAM-SHA-512")
    assert soon(secure, entries, 2, wanted=True), "the first controller copied the credentials"
