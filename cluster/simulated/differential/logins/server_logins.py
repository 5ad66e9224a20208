"""Draw logins at a listener, and compare each with the rules of its mechanism.

The client of SCRAM is computed by RFC 5802 (scram_reference.py). Sessions have the ends of KIP-368,
and those of delegation tokens the ends of their tokens (KIP-48).
"""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import check, refused, same
from kraftproof.cluster.simulated.differential.logins.drawn_accounts import (
    SERVER_NONCE,
    START_MS,
    Accounts,
    Token,
)
from kraftproof.cluster.simulated.differential.logins.scram_reference import (
    HASHES,
    NO_BINDING,
    TOKEN_PART,
    encoded,
    keys_of_password,
    parts_of,
    proof,
    server_signature,
    token_password,
    written_name,
)
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock, milliseconds
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.sasl_state import LoginStep, SaslSession
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.principal import Principal

MECHANISMS: Final = ("PLAIN", *HASHES)
OTHER_MECHANISMS: Final = ("GSSAPI", "OAUTHBEARER", "", "plain")
OTHERS: Final = 0.1
"""Share of logins with a mechanism that may not be enabled."""
TOKEN_ITERATIONS: Final = 4096
CONNECTIONS: Final = 6
LOGINS: Final = 3
"""Maximum number of logins on a connection."""


def compare_logins(random: Random) -> None:
    """Compare the logins of connections with the rules.

    Raises:
        DifferenceError: a login has another result.
    """
    for _ in range(CONNECTIONS):
        _compare_connection(random)


def _compare_connection(random: Random) -> None:
    login = _Logins(random)
    for _ in range(random.randint(1, LOGINS)):
        others = random.choice((MECHANISMS, OTHER_MECHANISMS))
        names = others if random.random() < OTHERS else login.accounts.mechanisms
        mechanism = random.choice(names)
        if not login.shake_hands(mechanism):
            return
        if login.plain() if mechanism == "PLAIN" else login.scram(mechanism):
            return


class _Exchange(Struct, frozen=True, kw_only=True):
    """The first two messages of a login with SCRAM."""

    mechanism: str
    bare: str
    first: str
    """The answer of the server."""


class _Logins:
    """The logins of a connection."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.accounts = Accounts(random)
        self.now_ms = START_MS
        self.session = SaslSession(self.accounts.policy, lambda: SERVER_NONCE)

    def shake_hands(self, mechanism: str) -> bool:
        """Compare the answer to SaslHandshake; return whether the mechanism is enabled."""
        enabled = self.accounts.mechanisms
        answer = self.session.handshake(mechanism)
        is_enabled = mechanism in enabled
        error = ErrorCode.NONE if is_enabled else ErrorCode.UNSUPPORTED_SASL_MECHANISM
        same("the error of a handshake", answer.error_code, int(error))
        same("the mechanisms of a handshake", tuple(answer.mechanisms), enabled)
        return is_enabled

    def plain(self) -> bool:
        """Compare a login with PLAIN; return whether it failed."""
        message, user, error = self.accounts.plain_message()
        if error is not None:
            text = refused("a login with PLAIN", LoginError, self._receive, message)
            check(f"the error of PLAIN is {error}: {text}", text.startswith(error))
            return True
        principal = Principal(type="User", name=user)
        self._compare_end(self._receive(message), b"", principal, None)
        return False

    def scram(self, mechanism: str) -> bool:
        """Compare a login with SCRAM; return whether it failed."""
        random, accounts = self.random, self.accounts
        nonce = encoded(random.randbytes(12))
        token = random.choice(accounts.tokens) if random.random() < 0.4 else None
        if token is not None:
            self.now_ms = token.ends_ms + random.choice((-100_000, -7, -1, 0, 0, 1, 50))
        name = random.choice(accounts.names) if token is None else token.token_id
        bare = f"n={written_name(name)},r={nonce}" + (TOKEN_PART if token else "")
        if token is None and random.random() < 0.15:
            self._refuse(mechanism, accounts.wrong_first(name, nonce))
            return True
        salted = self._salted(mechanism, name, token)
        if salted is None:
            self._refuse(mechanism, f"n,,{bare}".encode())
            return True
        step = self._receive(f"n,,{bare}".encode())
        first = step.answer.decode()
        found = parts_of(first)
        salt, iterations = salted
        same("the nonce of SCRAM", found.get("r"), nonce + SERVER_NONCE)
        same("the iterations of SCRAM", found.get("i"), str(iterations))
        if salt is not None:
            same("the salt of SCRAM", found.get("s"), encoded(salt))
        same("the result of a first message", (step.principal, step.lifetime_ms), (None, 0))
        same("the name of a login", self.session.login_name, name)
        exchange = _Exchange(mechanism=mechanism, bare=bare, first=first)
        return self._finish(exchange, name, token)

    def _salted(
        self, mechanism: str, name: str, token: Token | None
    ) -> tuple[bytes | None, int] | None:
        """Return the salt and the iterations of an account; None for an account without keys."""
        if token is None:
            known = self.accounts.credentials.get((name, mechanism))
            return None if known is None else (known.salt, known.iterations)
        has_secret = self.accounts.secret is not None
        is_over = token.ends_ms < self.now_ms or not token.is_known
        return (None, TOKEN_ITERATIONS) if has_secret and not is_over else None

    def _finish(self, exchange: _Exchange, name: str, token: Token | None) -> bool:
        """Send the last message, which may be wrong; return whether the login failed."""
        random, accounts, mechanism = self.random, self.accounts, exchange.mechanism
        found = parts_of(exchange.first)
        if token is None:
            password = accounts.passwords[name]
        else:
            password = token_password(accounts.secret or "", token.token_id)
        wrong = random.choice(("password", "binding", "nonce")) if random.random() < 0.3 else ""
        password += "x" if wrong == "password" else ""
        binding = "eSws" if wrong == "binding" else NO_BINDING
        nonce = found["r"] + ("x" if wrong == "nonce" else "")
        unproven = f"c={binding},r={nonce}"
        signed = f"{exchange.bare},{exchange.first},{unproven}"
        salt = accounts.decoded(found["s"])
        keys = keys_of_password(mechanism, password, salt, int(found["i"]))
        message = f"{unproven},p={encoded(proof(mechanism, keys, signed))}".encode()
        if wrong:
            self._refuse(mechanism, message)
            return True
        if token is None:
            step = self._receive(message)
            principal, ends_ms = Principal(type="User", name=name), None
        else:
            self.now_ms += random.choice((0, 0, 0, 3))
            if random.random() < 0.1:
                accounts.remove(token)
            if self.now_ms > token.ends_ms or not token.is_known:
                text = refused("a token that is over", LoginError, self._receive, message)
                check(f"the error names the token: {text}", "token has expired" in text)
                return True
            step = self._receive(message)
            kind, _, owner = token.owner.partition(":")
            principal = Principal(type=kind, name=owner, token_authenticated=True)
            ends_ms = token.ends_ms
        signature = encoded(server_signature(mechanism, keys, signed))
        self._compare_end(step, f"v={signature}".encode(), principal, ends_ms)
        return False

    def _compare_end(
        self, step: LoginStep, answer: bytes, principal: Principal, ends_ms: int | None
    ) -> None:
        """Compare the end of a login; a session of a token is never without an end."""
        same("the last answer of a login", step.answer, answer)
        same("the principal of a login", step.principal, principal)
        same("the principal of the session", self.session.principal, principal)
        lifetimes = [self.accounts.reauth_ms] if self.accounts.reauth_ms else []
        if ends_ms is not None:
            lifetimes.append(max(ends_ms - self.now_ms, 1))
        same("the lifetime of a session", step.lifetime_ms, min(lifetimes, default=0))

    def _refuse(self, mechanism: str, message: bytes) -> None:
        """Compare the refusal of a message of SCRAM with that of Kafka."""
        text = refused("a wrong message of SCRAM", LoginError, self._receive, message)
        expected = f"invalid credentials with SASL mechanism {mechanism}"
        check(f"the error of SCRAM is that of Kafka: {text}", text.endswith(expected))

    def _receive(self, message: bytes) -> LoginStep:
        within_ns = self.random.choice((0, 1, 999_999))
        now = Instant(Monotonic(0), WallClock(milliseconds(self.now_ms) + within_ns))
        return self.session.receive(message, self.accounts.image, now)
