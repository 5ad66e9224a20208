"""Delegation tokens and credentials by the wall clock: lifetimes, owners, logins, and the sweep."""

import base64
import hashlib
from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig, TokenPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Instant,
    Monotonic,
    NodeId,
    Offset,
    WallClock,
)
from kraftproof.node.core.controller.decisions import DECISIONS, DecisionContext
from kraftproof.node.core.controller.security.token_sweep import TokenSweep
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.security.credentials import delegation_tokens, user_principal
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.core.security.sasl_state import SaslSession
from kraftproof.node.core.security.scram import ScramClientLogin, password_keys, token_password
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages import alter_user_scram_credentials_request as alter
from kraftproof.node.wire.messages import create_delegation_token_request as create
from kraftproof.node.wire.messages.generated.expire_delegation_token_request import (
    ExpireDelegationTokenRequest,
)
from kraftproof.node.wire.messages.generated.renew_delegation_token_request import (
    RenewDelegationTokenRequest,
)
from kraftproof.node.wire.principal import Principal

SECRET = Secret("of-the-cluster")
MAX_MS, DEFAULT_MS = 100_000, 40_000
START_MS = 1_000_000
ALICE, BOB, EVE = map(user_principal, ("alice", "bob", "eve"))
MECHANISM = "SCRAM-SHA-256"


class Cluster:
    """The decisions of an active controller, the image, and a wall clock that the test moves."""

    def __init__(self) -> None:
        self.image: MetadataImage = EMPTY_IMAGE
        self.wall_ms = START_MS
        self.policy = TokenPolicy(
            secret=SECRET, max_lifetime_ms=MAX_MS, default_lifetime_ms=DEFAULT_MS
        )
        self.lifetime_ms = 0
        """The lifetime of the last session."""
        self._random = Random(1)

    @property
    def now(self) -> Instant:
        return Instant(Monotonic(0), WallClock(self.wall_ms * NANOSECONDS_PER_MS))

    def do(self, message: Message, principal: Principal = ALICE) -> Message:
        """Decide a request and apply its records."""
        config = NodeConfig(
            node_id=NodeId(1),
            cluster_id="c",
            is_controller=True,
            is_broker=False,
            voters=(),
            endpoints=(),
            tokens=self.policy,
        )
        context = DecisionContext(
            image=self.image,
            config=config,
            random=self._random,
            next_offset=Offset(0),
            sessions=Sessions(1),
            now=self.now,
            principal=principal,
            version=3,
        )
        outcome = DECISIONS[type(message)].decide(context, message)
        self.image = apply_all(self.image, outcome.records)
        return outcome.reply

    def logs_in(self, user: str, password: str, *, is_token: bool = False) -> bool:
        policy = LoginPolicy(mechanisms=(MECHANISM,), token_secret=SECRET)
        session = SaslSession(policy, lambda: "a-nonce")
        session.handshake(MECHANISM)
        client = ScramClientLogin(MECHANISM, user, Secret(password), is_token=is_token)
        try:
            challenge = session.receive(client.first(), self.image, self.now).answer
            proof = client.receive(challenge)
            assert proof is not None
            step = session.receive(proof, self.image, self.now)
        except LoginError:
            return False
        assert step.principal is not None
        self.lifetime_ms = step.lifetime_ms
        if is_token:
            assert step.principal == replace(ALICE, token_authenticated=True)
        return True


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def created(cluster: Cluster, **fields: object) -> tuple[str, bytes]:
    answer = cluster.do(create.CreateDelegationTokenRequest(**fields))  # type: ignore[arg-type]
    assert answer.error_code == 0  # type: ignore[attr-defined]
    return answer.token_id, answer.hmac  # type: ignore[attr-defined]


def code_of(answer: Message) -> int:
    return int(answer.error_code)  # type: ignore[attr-defined]


@pytest.mark.requirement("631-87")
def test_a_renewal_never_passes_the_maximum(cluster: Cluster) -> None:
    _, hmac = created(cluster)
    for _ in range(10):
        cluster.wall_ms += 30_000
        answer = cluster.do(RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=10**12))
        if code_of(answer):
            break
        [token] = delegation_tokens(cluster.image)
        assert token.expiration_timestamp <= token.max_timestamp == START_MS + MAX_MS
        assert token.expiration_timestamp <= cluster.wall_ms + DEFAULT_MS
    assert code_of(answer) == ErrorCode.DELEGATION_TOKEN_EXPIRED
    assert cluster.wall_ms == START_MS + 120_000, "expired with its maximum, and not before"


@pytest.mark.requirement("631-87")
def test_a_token_is_accepted_until_its_expiry_by_the_wall_clock(cluster: Cluster) -> None:
    token_id, _ = created(cluster)
    password = token_password(SECRET, token_id)
    cluster.wall_ms += DEFAULT_MS
    assert cluster.logs_in(token_id, password, is_token=True)
    assert not cluster.logs_in(token_id, password), "a token is no user"
    cluster.wall_ms += 1
    assert not cluster.logs_in(token_id, password, is_token=True)
    cluster.wall_ms -= 1000  # a clock that jumps back brings the token back
    assert cluster.logs_in(token_id, password, is_token=True)


@pytest.mark.requirement("631-87")
def test_only_the_owner_and_the_renewers_change_a_token(cluster: Cluster) -> None:
    renewer = create.CreatableRenewers(principal_type="User", principal_name="bob")
    _, hmac = created(cluster, renewers=(renewer,))
    renewal = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=1000)
    removal = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=-1)
    for message in (renewal, removal):
        assert code_of(cluster.do(message, EVE)) == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
    forged = replace(removal, hmac=hmac[::-1])
    assert code_of(cluster.do(forged)) == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    assert code_of(cluster.do(renewal, BOB)) == 0
    assert code_of(cluster.do(removal, BOB)) == 0
    assert not list(delegation_tokens(cluster.image))


@pytest.mark.requirement("631-87")
def test_the_lifetime_of_a_request_shortens_the_maximum(cluster: Cluster) -> None:
    created(cluster, max_lifetime_ms=5)
    created(cluster, max_lifetime_ms=10**15)
    maxima = sorted(token.max_timestamp for token in delegation_tokens(cluster.image))
    assert maxima == [START_MS + 5, START_MS + MAX_MS]
    host = create.CreatableRenewers(principal_type="Host", principal_name="h")
    refused = cluster.do(create.CreateDelegationTokenRequest(renewers=(host,)))
    assert code_of(refused) == ErrorCode.INVALID_PRINCIPAL_TYPE
    cluster.policy = TokenPolicy()
    refused = cluster.do(create.CreateDelegationTokenRequest())
    assert code_of(refused) == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED


@pytest.mark.requirement("631-87")
def test_the_sweep_removes_exactly_the_expired_tokens(cluster: Cluster) -> None:
    created(cluster, max_lifetime_ms=5)
    kept, _ = created(cluster)
    sweep = TokenSweep(replace(cluster.policy, sweep_interval_ns=10), cluster.now)
    cluster.wall_ms += 10
    assert sweep.take(cluster.image, cluster.now) == (), "the interval is not over"
    later = Instant(Monotonic(10), cluster.now.wall)
    cluster.image = apply_all(cluster.image, sweep.take(cluster.image, later))
    assert [token.token_id for token in delegation_tokens(cluster.image)] == [kept]
    assert TokenSweep(TokenPolicy(), cluster.now).due is None


def test_a_session_of_a_token_in_its_last_millisecond_has_an_end(cluster: Cluster) -> None:
    """A lifetime of 0 would be a session without an end."""
    token_id, hmac = created(cluster, max_lifetime_ms=5)
    password = base64.b64encode(hmac).decode()
    lifetimes = []
    for wall_ms in (START_MS + 3, START_MS + 5):
        cluster.wall_ms = wall_ms
        assert cluster.logs_in(token_id, password, is_token=True)
        lifetimes.append(cluster.lifetime_ms)
    assert lifetimes == [2, 1]
    cluster.wall_ms += 1
    assert not cluster.logs_in(token_id, password, is_token=True)


@pytest.mark.requirement("631-86")
def test_a_login_succeeds_exactly_while_its_credential_is_in_the_image(cluster: Cluster) -> None:
    salt = bytes(16)
    assert password_keys(1, "right", salt, 4096).iterations == 4096

    def put(password: str, iterations: int = 4096) -> int:
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
        upsertion = alter.ScramCredentialUpsertion(
            name="sam", mechanism=1, iterations=iterations, salt=salt, salted_password=salted
        )
        answer = cluster.do(alter.AlterUserScramCredentialsRequest(upsertions=(upsertion,)))
        return int(answer.results[0].error_code)  # type: ignore[attr-defined]

    assert not cluster.logs_in("sam", "right")
    assert put("right", 4095) == ErrorCode.UNACCEPTABLE_CREDENTIAL
    assert not cluster.logs_in("sam", "right")
    assert put("right") == 0
    assert cluster.logs_in("sam", "right")
    assert put("next") == 0
    assert cluster.logs_in("sam", "next")
    assert not cluster.logs_in("sam", "right")
    deletion = alter.ScramCredentialDeletion(name="sam", mechanism=1)
    twice = cluster.do(alter.AlterUserScramCredentialsRequest(deletions=(deletion, deletion)))
    assert [each.error_code for each in twice.results] == [ErrorCode.DUPLICATE_RESOURCE]  # type: ignore[attr-defined]
    assert cluster.logs_in("sam", "next"), "a user that is named twice keeps the credential"
    cluster.do(alter.AlterUserScramCredentialsRequest(deletions=(deletion,)))
    assert not cluster.logs_in("sam", "next")
