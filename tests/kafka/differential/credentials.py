"""Late logins, SCRAM credentials and delegation tokens (17, 36, 38 to 41, 50, 51). No tests here.

The listeners are PLAINTEXT, so no client may have tokens, and a login is always too late.
"""

from typing import Final

from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request as alter,
)
from kraftproof.node.wire.messages import (
    create_delegation_token_request,
    describe_delegation_token_request,
    describe_user_scram_credentials_request,
    expire_delegation_token_request,
    renew_delegation_token_request,
    sasl_authenticate_request,
    sasl_handshake_request,
)
from kraftproof.node.wire.schema import Message
from tests.kafka.differential.case import CONTROLLER, Case, every_version

SALT: Final = bytes(range(20))
Describe = describe_user_scram_credentials_request.DescribeUserScramCredentialsRequest
User = describe_user_scram_credentials_request.UserName
CreateToken = create_delegation_token_request.CreateDelegationTokenRequest
RenewToken = renew_delegation_token_request.RenewDelegationTokenRequest
ExpireToken = expire_delegation_token_request.ExpireDelegationTokenRequest
DescribeToken = describe_delegation_token_request.DescribeDelegationTokenRequest
Handshake = sasl_handshake_request.SaslHandshakeRequest
Authenticate = sasl_authenticate_request.SaslAuthenticateRequest


def put(
    user: str, mechanism: int = 1, iterations: int = 4096, salted: bytes = bytes(32)
) -> alter.ScramCredentialUpsertion:
    """Return the upsertion of a credential."""
    return alter.ScramCredentialUpsertion(
        name=user, mechanism=mechanism, iterations=iterations, salt=SALT, salted_password=salted
    )


def drop(user: str, mechanism: int = 1) -> alter.ScramCredentialDeletion:
    """Return the deletion of a credential."""
    return alter.ScramCredentialDeletion(name=user, mechanism=mechanism)


def change(
    name: str,
    *changes: alter.ScramCredentialUpsertion | alter.ScramCredentialDeletion,
) -> Case:
    """Return the case of an AlterUserScramCredentials."""
    upsertions = [one for one in changes if isinstance(one, alter.ScramCredentialUpsertion)]
    deletions = [one for one in changes if isinstance(one, alter.ScramCredentialDeletion)]
    request = alter.AlterUserScramCredentialsRequest(
        deletions=tuple(deletions), upsertions=tuple(upsertions)
    )
    return Case(name=f"credentials: {name}", message=request, versions=(0,), is_settled=True)


def describe(name: str, *users: str) -> Case:
    """Return the case of a DescribeUserScramCredentials; no user means all users."""
    named = tuple(User(name=user) for user in users) or None
    request = Describe(users=named)
    return Case(name=f"credentials: {name}", message=request, versions=(0,), is_settled=True)


CREDENTIALS: Final = (
    describe("all of none"),
    describe("an unknown user", "nobody"),
    change("put", put("ann"), put("ann", 2), put("bob")),
    describe("all users"),
    describe("a user twice", "ann", "ann", "bob"),
    change("no change"),
    change("too few iterations", put("ann", 1, 4095)),
    change("too many iterations", put("ann", 1, 16385)),
    change("most iterations", put("ann", 1, 16384)),
    change("an empty name", put("")),
    change("an unknown mechanism", put("ann", 3), put("bob", 0)),
    change("a deletion of an unknown mechanism", drop("ann", 7)),
    change("a deletion of none", drop("nobody"), drop("ann", 2)),
    change("a credential twice", put("eve"), put("eve")),
    change("put and deleted at once", drop("bob"), put("bob")),
    change("deleted twice", drop("bob"), drop("bob")),
    change("one wrong of two", put("kim"), put("kim", 2, 1)),
    describe("the users after the changes", "ann", "bob", "eve", "kim"),
    change("deleted", drop("ann")),
    describe("all users at the end"),
)


def each(name: str, request: Message, *, to: str | None = None) -> Case:
    """Return a case in every version."""
    case = Case(name=name, message=request, versions=every_version(type(request)))
    return case if to is None else Case(name=name, message=request, versions=case.versions, to=to)


TOKENS: Final = (
    each("tokens: create", CreateToken(max_lifetime_ms=-1)),
    each("tokens: renew", RenewToken(hmac=b"x", renew_period_ms=1)),
    each("tokens: expire", ExpireToken(hmac=b"x", expiry_time_period_ms=-1)),
    each("tokens: describe", DescribeToken(owners=None)),
)
LATE_LOGINS: Final = (
    each("logins: handshake", Handshake(mechanism="PLAIN")),
    each("logins: authenticate", Authenticate(auth_bytes=b"x")),
    each("logins: handshake, controller", Handshake(mechanism="PLAIN"), to=CONTROLLER),
    each("logins: authenticate, controller", Authenticate(auth_bytes=b"x"), to=CONTROLLER),
)
