"""Run the two messages of a SCRAM login, on both sides (RFC 5802, KIP-84), with scramp.

Channel binding and authorization ids are refused. Kafka adds an extension to the first message of a
client that logs in with a delegation token: `tokenauth=true` (KIP-48). The library does not know
the extension, so the extension is cut from the message for the library, and is put back into the
text that both sides sign.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.mechanisms import MIN_ITERATIONS, SCRAM_NUMBERS
from kraftproof.node.wire.records.metadata import UserScramCredentialRecord

if TYPE_CHECKING:
    from scramp.core import ScramServer

TOKEN_EXTENSION: Final = ",tokenauth=true"  # noqa: S105 - no secret
MIN_SALT: Final = 12
"""Minimum size of a salt in bytes; the library refuses shorter salts."""
_HASHES: Final = {1: "sha256", 2: "sha512"}
_LONGEST_NAME: Final = 4096


class ScramKeys(Struct, frozen=True, kw_only=True):
    """The keys of a user, which a server stores in place of the password."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


FindKeys = Callable[[str, bool], ScramKeys | None]
"""Returns the keys of a user name, or of the id of a token if the second argument is True."""


def keys_of(credential: UserScramCredentialRecord) -> ScramKeys:
    """Return the keys of a stored credential."""
    return ScramKeys(
        salt=credential.salt,
        stored_key=credential.stored_key,
        server_key=credential.server_key,
        iterations=credential.iterations,
    )


def derive_keys(mechanism: int, salted_password: bytes) -> tuple[bytes, bytes]:
    """Return the stored key and the server key of a salted password (RFC 5802, section 3)."""
    name = _HASHES[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", name)
    server_key = hmac.digest(salted_password, b"Server Key", name)
    return hashlib.new(name, client_key).digest(), server_key


@lru_cache(maxsize=1024)
def password_keys(mechanism: int, password: str, salt: bytes, iterations: int) -> ScramKeys:
    """Return the keys of a password; one call costs some milliseconds."""
    salted = hashlib.pbkdf2_hmac(_HASHES[mechanism], password.encode(), salt, iterations)
    stored_key, server_key = derive_keys(mechanism, salted)
    return ScramKeys(salt=salt, stored_key=stored_key, server_key=server_key, iterations=iterations)


def token_hmac(secret: Secret, token_id: str) -> bytes:
    """Return the HMAC of a token's id, which is the password of a token (KIP-48)."""
    return hmac.digest(secret.value.encode(), token_id.encode(), "sha512")


def token_password(secret: Secret, token_id: str) -> str:
    """Return the password of a token, as clients send it."""
    return base64.b64encode(token_hmac(secret, token_id)).decode()


def token_keys(mechanism: int, secret: Secret, token_id: str) -> ScramKeys:
    """Return the keys of a token; the salt is no secret, and the same on every broker."""
    salt = hmac.digest(secret.value.encode(), b"salt of " + token_id.encode(), "sha256")
    return password_keys(mechanism, token_password(secret, token_id), salt, MIN_ITERATIONS)


class ScramLogin:
    """The server's side of one login."""

    __slots__ = ("_find", "_mechanism", "_nonce", "_server", "is_token", "user")

    def __init__(self, mechanism: str, nonce: str, find: FindKeys) -> None:
        """Begin; the nonce must never repeat."""
        self._mechanism = mechanism
        self._nonce = nonce
        self._find = find
        self._server: ScramServer | None = None
        self.user = ""
        """The name in the first message; proven once `receive` returns the last message."""
        self.is_token = False

    @property
    def is_complete(self) -> bool:
        """Return whether the client has proven to know the password."""
        return self._server is not None and self._server.server_signature is not None

    def receive(self, data: bytes) -> bytes:
        """Return the answer to a message of the client.

        Raises:
            LoginError: the message is malformed, or the proof is wrong.
        """
        from scramp import ScramException

        try:
            text = data.decode()
            return (self._first(text) if self._server is None else self._final(text)).encode()
        except (ScramException, UnicodeDecodeError, ValueError) as error:
            raise LoginError(
                "Authentication failed during authentication due to invalid credentials with SASL "
                f"mechanism {self._mechanism}"
            ) from error

    def _first(self, text: str) -> str:
        from scramp import ScramMechanism

        plain = text.replace(TOKEN_EXTENSION, "", 1)
        self.is_token = plain != text
        _, _, bare = text.split(",", 2)
        self.user = _name_in(bare)

        def find(_: str) -> tuple[bytes, bytes, bytes, int] | None:
            keys = self._find(self.user, self.is_token)
            if keys is None:
                return None
            return keys.salt, keys.stored_key, keys.server_key, keys.iterations

        server = ScramMechanism(self._mechanism).make_server(find, s_nonce=self._nonce)
        server.set_client_first(plain)
        server.client_first_bare = bare
        self._server = server
        return str(server.get_server_first())

    def _final(self, text: str) -> str:
        server = self._server
        assert server is not None, "the first message came before"
        server.set_client_final(text)
        return str(server.get_server_final())


def _name_in(bare: str) -> str:
    """Return the user name as the client wrote it; the library would normalize the name."""
    name, _, _ = bare.partition(",")
    if not name.startswith("n=") or len(name) > _LONGEST_NAME:
        raise ValueError("no name")
    return name[2:].replace("=2C", ",").replace("=3D", "=")


class ScramClientLogin:
    """The client's side of one login."""

    __slots__ = ("_client", "_is_token", "_step")

    def __init__(
        self,
        mechanism: str,
        user: str,
        password: Secret,
        *,
        is_token: bool = False,
        nonce: str | None = None,
    ) -> None:
        """Begin; without a nonce the library draws one."""
        from scramp import ScramClient

        assert mechanism in SCRAM_NUMBERS, "the configuration names a known mechanism"
        self._client: ScramClient = ScramClient([mechanism], user, password.value, c_nonce=nonce)
        self._is_token = is_token
        self._step = 0

    def first(self) -> bytes:
        """Return the first message."""
        text = str(self._client.get_client_first())
        if self._is_token:
            self._client.client_first_bare += TOKEN_EXTENSION
            text += TOKEN_EXTENSION
        return text.encode()

    def receive(self, data: bytes) -> bytes | None:
        """Return the answer to a message of the server; None once the server has proven itself.

        Raises:
            LoginError: the server does not know the password, or asks for too few iterations.
        """
        from scramp import ScramException

        try:
            self._step += 1
            if self._step == 1:
                self._client.set_server_first(data.decode())
                return str(self._client.get_client_final()).encode()
            self._client.set_server_final(data.decode())
        except (ScramException, ValueError) as error:
            raise LoginError("the server failed the SCRAM exchange") from error
        return None


def is_known_number(mechanism: int) -> bool:
    """Return whether a number in a request names a mechanism."""
    return mechanism in _HASHES
