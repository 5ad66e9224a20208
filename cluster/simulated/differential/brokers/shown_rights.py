"""Compare what a broker shows to clients with rights of their own (KIP-430, KIP-48, KIP-554).

A client sees its authorized operations, the delegation tokens that are its own or that it may
describe, and the mechanisms of users. A pass over all access control entries decides about rights.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers.drawn_tokens import (
    SECRET,
    SPECIAL,
    drawn_credentials,
    drawn_tokens,
    may_ask,
    shown_scram,
    shown_tokens,
)
from kraftproof.cluster.simulated.differential.brokers.visible_topics import (
    compare_visible,
    draw_request,
)
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    ADMIN,
    HOSTS,
    USERS,
    Rights,
    draw_entry,
)
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    CLUSTER,
    CLUSTER_NAME,
    DESCRIBE,
    TOPIC,
)
from kraftproof.node.core.base.config import AuthorizerPolicy, TokenPolicy
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.broker.operations import (
    cluster_operations,
    topic_operations,
    with_operations,
)
from kraftproof.node.core.broker.security.answers import (
    early_answer,
    refuse_token_change,
    security_answer,
)
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_delegation_token_request,
    create_delegation_token_response,
    describe_delegation_token_request,
    describe_delegation_token_response,
    describe_user_scram_credentials_request,
    describe_user_scram_credentials_response,
    metadata_response,
    renew_delegation_token_request,
    renew_delegation_token_response,
    sasl_authenticate_request,
    sasl_authenticate_response,
    sasl_handshake_request,
    sasl_handshake_response,
)
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.metadata import DelegationTokenRecord

OF_TOPICS: Final = (3, 4, 5, 6, 7, 8, 10, 11)
"""Read, write, create, delete, alter, describe, and describe and alter configurations."""
OF_CLUSTERS: Final = (5, 7, 8, 9, 10, 11, 12)
"""Create, alter, describe, cluster action, configurations, and idempotent write."""
NOT_ASKED: Final = -(2**31)
TOKEN, USER = 6, 7
"""The numbers of the resources of tokens (KIP-48, KIP-373)."""
CREATE_TOKENS, DESCRIBE_TOKENS = 13, 14
KINDS: Final = (TOPIC, TOPIC, CLUSTER, CLUSTER, TOKEN, USER)
NAMES: Final = {
    TOPIC: ("a", "ab", "b", "*"),
    CLUSTER: (CLUSTER_NAME,),
    TOKEN: ("t-1", "t-2", "*"),
    USER: ("User:u1", "User:u2", "*"),
}
OPERATIONS: Final = {
    TOPIC: (ALL, *OF_TOPICS),
    CLUSTER: (ALL, DESCRIBE, *OF_CLUSTERS),
    TOKEN: (ALL, DESCRIBE),
    USER: (ALL, CREATE_TOKENS, DESCRIBE_TOKENS),
}
NEWEST: Final = 13
"""The newest version of Metadata."""
MOST_ENTRIES: Final = 12
CLIENTS: Final = 6
POLICY: Final = AuthorizerPolicy(super_users=(ADMIN,))


def compare_shown_rights(random: Random) -> None:
    """Compare the answers to drawn clients.

    Raises:
        DifferenceError: a client sees something else.
    """
    _Broker(random).compare()


class _Broker:
    """A broker with entries, tokens and credentials in its image."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tokens = drawn_tokens(random, (*USERS, ADMIN))
        self.credentials = drawn_credentials(random)
        count = random.randint(0, MOST_ENTRIES)
        entries = tuple(
            draw_entry(random, number, KINDS, NAMES, OPERATIONS) for number in range(count)
        )
        written: list[Record] = [*entries, *self.tokens, *self.credentials]
        self.image = apply_all(EMPTY_IMAGE, tuple(written))
        policy = None if random.random() < 0.2 else POLICY
        self.rights = Rights(self.image, policy)
        self.authorizer = None if policy is None else _authorizer(self.image)
        self.secret = None if random.random() < 0.1 else SECRET

    def compare(self) -> None:
        """Compare what some clients see."""
        for _ in range(CLIENTS):
            self._compare_operations(self._event(_handshake()))
            event = replace(self._event(draw_request(self.random)), version=NEWEST)
            compare_visible(self.image, self.rights, self.authorizer, event)
            self._compare_tokens()
            self._compare_creation()
            self._compare_scram()
            self._compare_logins()

    def _compare_operations(self, event: Received) -> None:
        authorizer, rights = self.authorizer, self.rights
        for name in ("a", "ab", "c"):
            bits = sum(1 << one for one in OF_TOPICS if rights.allows(event, one, TOPIC, name))
            same(f"the operations on {name}", topic_operations(authorizer, event, name), bits)
            topic = metadata_response.MetadataResponseTopic(name=name)
            shown = with_operations(topic, authorizer, event).topic_authorized_operations
            same(f"the shown operations on {name}", shown, bits)
        for topic in (
            metadata_response.MetadataResponseTopic(name="a", error_code=3),
            metadata_response.MetadataResponseTopic(name=None),
        ):
            same("a topic that is not shown", with_operations(topic, authorizer, event), topic)
        may_describe = rights.allows_on_cluster(event, DESCRIBE)
        held = [one for one in OF_CLUSTERS if rights.allows_on_cluster(event, one)]
        bits = sum(1 << one for one in held) if may_describe else 0
        same("operations", cluster_operations(authorizer, event, wanted=True), bits)
        same("no operations", cluster_operations(authorizer, event, wanted=False), NOT_ASKED)

    def _compare_tokens(self) -> None:
        """Compare DescribeDelegationToken."""
        random = self.random
        owners = random.choice((None, None, (), (USERS[0],), USERS))
        module = describe_delegation_token_request
        asked = module.DescribeDelegationTokenRequest(
            owners=None
            if owners is None
            else tuple(
                module.DescribeDelegationTokenOwner(
                    principal_type=one.partition(":")[0], principal_name=one.partition(":")[2]
                )
                for one in owners
            )
        )
        event = self._event(asked)
        found = security_answer(self.image, event, TokenPolicy(secret=self.secret), self.authorizer)
        kind = describe_delegation_token_response.DescribeDelegationTokenResponse
        if not may_ask(event):
            expected = kind(error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
        elif self.secret is None:
            expected = kind(error_code=ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
        else:
            seen = [token for token in self.tokens if self._sees(event, token)]
            if owners is not None:
                seen = [one for one in seen if {one.owner, *one.renewers} & set(owners)]
            expected = kind(tokens=shown_tokens(seen, event.version))
        same(f"the tokens of {owners}", found, expected)

    def _sees(self, event: Received, token: DelegationTokenRecord) -> bool:
        if f"{event.principal.type}:{event.principal.name}" in {token.owner, *token.renewers}:
            return True
        is_described = self.rights.allows(event, DESCRIBE, TOKEN, token.token_id)
        return is_described or self.rights.allows(event, DESCRIBE_TOKENS, USER, token.owner)

    def _compare_creation(self) -> None:
        """Compare the refusals of changes of tokens, before they are forwarded."""
        random, module = self.random, create_delegation_token_request
        owner = random.choice(("", *USERS))
        kind, _, name = owner.partition(":")
        renewer = random.choice(("User", "User", "Group"))
        asked = module.CreateDelegationTokenRequest(
            owner_principal_type=random.choice((kind or None, None)),
            owner_principal_name=name or None,
            renewers=(module.CreatableRenewers(principal_type=renewer, principal_name="r"),),
        )
        event = self._event(asked)
        named = owner or f"{event.principal.type}:{event.principal.name}"
        is_own = named == f"{event.principal.type}:{event.principal.name}"
        error = None
        if not may_ask(event):
            error = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        elif not is_own and not self.rights.allows(event, CREATE_TOKENS, USER, named):
            error = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
        elif renewer != "User":
            error = ErrorCode.INVALID_PRINCIPAL_TYPE
        found = refuse_token_change(event, self.authorizer)
        if error is None:
            same("a token that may be created", found, None)
        else:
            assert isinstance(found, create_delegation_token_response.CreateDelegationTokenResponse)
            shown = (found.error_code, f"{found.principal_type}:{found.principal_name}")
            same("the refusal of a token", shown, (int(error), named))
        renewal = self._event(renew_delegation_token_request.RenewDelegationTokenRequest())
        found = early_answer(renewal, self.authorizer)
        refused = renew_delegation_token_response.RenewDelegationTokenResponse(
            error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=-1
        )
        same("a renewal", found, None if may_ask(renewal) else refused)

    def _compare_scram(self) -> None:
        """Compare DescribeUserScramCredentials."""
        random, module = self.random, describe_user_scram_credentials_request
        names = random.choices(("u1", "u2", "u3"), k=random.choice((0, 0, 1, 2, 3)))
        users = tuple(module.UserName(name=name) for name in names)
        asked = module.DescribeUserScramCredentialsRequest(users=users or None)
        found = security_answer(self.image, self._event(asked), TokenPolicy(), self.authorizer)
        kind = describe_user_scram_credentials_response.DescribeUserScramCredentialsResponse
        assert isinstance(found, kind)
        shown = [
            (
                *(one.user, one.error_code),
                [(info.mechanism, info.iterations) for info in one.credential_infos],
            )
            for one in found.results
        ]
        same(f"the credentials of {names}", shown, shown_scram(self.credentials, names))
        explained = [bool(one.error_message) for one in found.results]
        same("the reasons", explained, [bool(one.error_code) for one in found.results])

    def _compare_logins(self) -> None:
        """Compare requests of a login outside of a login."""
        error = ErrorCode.ILLEGAL_SASL_STATE
        found = early_answer(self._event(_handshake()), self.authorizer)
        expected: Message = sasl_handshake_response.SaslHandshakeResponse(error_code=error)
        same("a late handshake", found, expected)
        late = sasl_authenticate_request.SaslAuthenticateRequest()
        answer = early_answer(self._event(late), self.authorizer)
        assert isinstance(answer, sasl_authenticate_response.SaslAuthenticateResponse)
        same("a late login", answer.error_code, int(error))

    def _event(self, message: Message) -> Received:
        """Return a request of a drawn client."""
        random = self.random
        kind, _, name = random.choice((*USERS, *USERS, ADMIN, SPECIAL)).partition(":")
        protocols = (*SecurityProtocol, SecurityProtocol.SASL_SSL, SecurityProtocol.SASL_SSL)
        return Received(
            request=1,
            message=message,
            version=random.randint(1, 3),
            on_controller_listener=False,
            principal=Principal(type=kind, name=name, token_authenticated=random.random() < 0.1),
            client_host=random.choice(HOSTS),
            security_protocol=random.choice(protocols),
        )


def _handshake() -> Message:
    return sasl_handshake_request.SaslHandshakeRequest(mechanism="PLAIN")


def _authorizer(image: MetadataImage) -> Authorizer:
    committed = CommittedImage()
    committed.image, committed.offset = image, Offset(1)
    return Authorizer(POLICY, committed, Outbox())
