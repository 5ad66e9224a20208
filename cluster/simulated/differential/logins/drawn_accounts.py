"""The accounts of a cluster: users of PLAIN, credentials of SCRAM, and delegation tokens."""

import base64
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.logins.scram_reference import (
    NUMBERS,
    keys_of_password,
    written_name,
)
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

START_MS: Final = 1_700_000_000_000
"""The wall clock of the logins, in milliseconds."""
SERVER_NONCE: Final = "nonce-of-the-server"
USERS: Final = ("alice", "bob", "a,b", "c=d", "=2C", "Ünal")
UNKNOWN: Final = "mallory"
SALTS: Final = (b"twelve bytes", b"salt of sixteen!")
ITERATIONS: Final = (4096, 4097)
PASSWORDS: Final = ("secret", "päss", "a=b,c")
SECRETS: Final = ("key of tokens", "other key")
TOKENS: Final = ("token-one", "token-two", "token-three")
MISMATCH: Final = (
    "Authentication failed: Client requested an authorization id that is different from username"
)


class Credential(Struct, frozen=True):
    """The public part of a credential."""

    salt: bytes
    iterations: int


class Token(Struct, kw_only=True):
    """A delegation token; a removed token stays with `is_known` False."""

    token_id: str
    owner: str
    expiry_ms: int
    latest_ms: int
    is_known: bool = True

    @property
    def ends_ms(self) -> int:
        """The last millisecond of the token."""
        return min(self.expiry_ms, self.latest_ms)


class Accounts:
    """The accounts of a draw, and the listener."""

    def __init__(self, random: Random) -> None:
        self.random = random
        known = ["PLAIN", *NUMBERS]
        self.mechanisms = tuple(random.sample(known, random.randint(1, len(known))))
        self.reauth_ms = random.choice((0, 0, 1, 5_000, 3_600_000))
        self.secret = random.choice((None, *SECRETS, *SECRETS))
        self.passwords = {user: random.choice(PASSWORDS) for user in USERS}
        self.names = (*USERS, UNKNOWN)
        self.plain_users = {
            user: password for user, password in self.passwords.items() if random.random() < 0.7
        }
        self.credentials = {
            (user, mechanism): Credential(random.choice(SALTS), random.choice(ITERATIONS))
            for user in USERS
            for mechanism in NUMBERS
            if random.random() < 0.7
        }
        self.tokens = tuple(self._token(name) for name in TOKENS)
        self.image = self._image()
        self.policy = LoginPolicy(
            mechanisms=self.mechanisms,
            plain_users={user: Secret(text) for user, text in self.plain_users.items()},
            max_reauth_ms=self.reauth_ms,
            token_secret=None if self.secret is None else Secret(self.secret),
        )

    def decoded(self, text: str) -> bytes:
        """Return the bytes of Base64."""
        return base64.b64decode(text)

    def remove(self, token: Token) -> None:
        """Remove a token from the image."""
        token.is_known = False
        removal = records.RemoveDelegationTokenRecord(token_id=token.token_id)
        self.image = apply_all(self.image, (removal,))

    def plain_message(self) -> tuple[bytes, str, str | None]:
        """Return a message of PLAIN, its user and the begin of the error of Kafka."""
        random = self.random
        user = random.choice((*self.names, *self.plain_users))
        password = self.passwords.get(user, "guess")
        match random.randrange(10):
            case 0:
                return b"\xff\0a\0b", user, "Invalid SASL/PLAIN response"
            case 1:
                parts = random.choice((["a"], ["", user], ["", user, password, ""]))
                count = f"expected 3 tokens, got {len(parts)}"
                return "\0".join(parts).encode(), user, f"Invalid SASL/PLAIN response: {count}"
            case 2:
                text = f"\0\0{random.choice((password, ''))}"
                return text.encode(), user, "Authentication failed: username not specified"
            case 3:
                text = f"\0{user}\0"
                return text.encode(), user, "Authentication failed: password not specified"
            case 4:
                password = random.choice((password + "x", password[:-1], password[::-1] + "x"))
            case _:
                pass
        authorized = random.choice(("", "", user, "root"))
        error = None
        if self.plain_users.get(user) != password:
            error = "Authentication failed: Invalid username or password"
        elif authorized not in ("", user):
            error = MISMATCH
        return f"{authorized}\0{user}\0{password}".encode(), user, error

    def wrong_first(self, name: str, nonce: str) -> bytes:
        """Return a first message of SCRAM that is refused."""
        written = written_name(name)
        return self.random.choice(
            (
                b"\xff\xfe",
                b"",
                b"n,,",
                f"n,,r={nonce}".encode(),
                f"n,,a={written},r={nonce}".encode(),
                f"n,a=root,n={written},r={nonce}".encode(),
                f"p=tls-unique,,n={written},r={nonce}".encode(),
                f"n,,n={'x' * 5_000},r={nonce}".encode(),
            )
        )

    def _token(self, name: str) -> Token:
        random = self.random
        expiry_ms = START_MS + random.randrange(1_000, 1_000_000)
        latest_ms = expiry_ms + random.choice((-500, 0, 1, 100_000))
        owner = f"User:{random.choice(USERS)}"
        return Token(token_id=name, owner=owner, expiry_ms=expiry_ms, latest_ms=latest_ms)

    def _image(self) -> MetadataImage:
        written: list[Record] = []
        for (user, mechanism), one in self.credentials.items():
            password = self.passwords[user]
            keys = keys_of_password(mechanism, password, one.salt, one.iterations)
            written.append(
                records.UserScramCredentialRecord(
                    name=user,
                    mechanism=NUMBERS[mechanism],
                    salt=one.salt,
                    stored_key=keys.stored_key,
                    server_key=keys.server_key,
                    iterations=one.iterations,
                )
            )
        written += [
            records.DelegationTokenRecord(
                owner=token.owner,
                requester=token.owner,
                issue_timestamp=START_MS,
                max_timestamp=token.latest_ms,
                expiration_timestamp=token.expiry_ms,
                token_id=token.token_id,
            )
            for token in self.tokens
        ]
        return apply_all(EMPTY_IMAGE, tuple(written))
