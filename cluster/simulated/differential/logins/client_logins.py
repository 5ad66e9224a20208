"""Draw logins of a node at another one, whose side is computed by RFC 5802 and RFC 4616."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.logins.drawn_accounts import (
    PASSWORDS,
    SALTS,
    SERVER_NONCE,
    USERS,
)
from kraftproof.cluster.simulated.differential.logins.scram_reference import (
    HASHES,
    NO_BINDING,
    TOKEN_PART,
    Keys,
    encoded,
    keys_of_password,
    parts_of,
    proof,
    server_signature,
    written_name,
)
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.wire.errors import ErrorCode, error_name
from kraftproof.node.wire.messages import (
    Message,
    sasl_authenticate_request,
    sasl_authenticate_response,
    sasl_handshake_request,
    sasl_handshake_response,
)

NONCE: Final = "nonce-of-the-client"
ITERATIONS: Final = 4096
HANDSHAKE, AUTHENTICATE = 1, 2
"""The versions of the requests whose messages have headers and lifetimes."""
Answer = sasl_authenticate_response.SaslAuthenticateResponse


def compare_client_logins(random: Random) -> None:
    """Compare the messages of a client, and what it takes and refuses.

    Raises:
        DifferenceError: the client sends another message, or takes a wrong answer.
    """
    _Server(random).serve()


class _Server:
    """A server that takes a single login."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.mechanism = random.choice(("PLAIN", *HASHES, *HASHES))
        self.user, self.password = random.choice(USERS[:4]), random.choice(PASSWORDS[::2])
        self.is_token = random.random() < 0.4
        login = ClientLogin(
            mechanism=self.mechanism,
            username=self.user,
            password=Secret(self.password),
            is_token=self.is_token,
        )
        self.dialog = ClientDialog(login, NONCE)

    def serve(self) -> None:
        """Compare the login step by step; an error of the server may end the login at any step."""
        message, version = self.dialog.start()
        expected = sasl_handshake_request.SaslHandshakeRequest(mechanism=self.mechanism)
        same("the first request of a login", (message, version), (expected, HANDSHAKE))
        if self._ends_at_handshake():
            return
        data = self._data(self.dialog.answered(sasl_handshake_response.SaslHandshakeResponse()))
        if self.mechanism == "PLAIN":
            same("the message of PLAIN", data, f"\0{self.user}\0{self.password}".encode())
            self._end(b"")
            return
        part = TOKEN_PART if self.is_token else ""
        bare = f"n={written_name(self.user)},r={NONCE}{part}"
        same("the first message of SCRAM", data, f"n,,{bare}".encode())
        self._prove(bare)

    def _prove(self, bare: str) -> None:
        """Compare the proof of the client, and let the server prove itself, rightly or not."""
        random = self.random
        salt = random.choice(SALTS)
        nonce = NONCE + SERVER_NONCE if random.random() < 0.9 else SERVER_NONCE
        first = f"r={nonce},s={encoded(salt)},i={ITERATIONS}"
        if nonce == SERVER_NONCE:
            answer = Answer(auth_bytes=first.encode())
            refused("another nonce", LoginError, self.dialog.answered, answer)
            return
        if self._ends():
            return
        data = self._data(self.dialog.answered(Answer(auth_bytes=first.encode())))
        keys = keys_of_password(self.mechanism, self.password, salt, ITERATIONS)
        unproven = f"c={NO_BINDING},r={nonce}"
        signed = f"{bare},{first},{unproven}"
        proven = encoded(proof(self.mechanism, keys, signed))
        same("the last message of SCRAM", data.decode(), f"{unproven},p={proven}")
        check("a message with a proof has a proof", parts_of(data.decode()).get("p"))
        check("a login before the server's proof is open", not self.dialog.is_complete)
        self._prove_itself(keys, signed)

    def _prove_itself(self, keys: Keys, signed: str) -> None:
        signature = encoded(server_signature(self.mechanism, keys, signed))
        if self.random.random() < 0.2:
            other = Keys(keys.client_key, keys.stored_key, keys.stored_key)
            wrong = encoded(server_signature(self.mechanism, other, signed))
            answer = Answer(auth_bytes=f"v={wrong}".encode())
            refused("a wrong server", LoginError, self.dialog.answered, answer)
            check("a login at a wrong server is open", not self.dialog.is_complete)
            return
        self._end(f"v={signature}".encode())

    def _end(self, data: bytes) -> None:
        """Compare the end of the login with the answer of the server."""
        if self._ends():
            return
        lifetime_ms = self.random.choice((0, 1, 60_000))
        answer = Answer(auth_bytes=data, session_lifetime_ms=lifetime_ms)
        same("the request after the last answer", self.dialog.answered(answer), None)
        same("a login at its end", self.dialog.is_complete, True)  # noqa: FBT003 - a value
        same("the lifetime of a session", self.dialog.lifetime_ms, lifetime_ms)

    def _ends_at_handshake(self) -> bool:
        """Compare a refusal of the mechanism, which is drawn seldom; return whether it is."""
        if self.random.random() >= 0.15:
            return False
        error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
        offered = self.random.choice(((), ("GSSAPI",), ("GSSAPI", "PLAIN")))
        answer = sasl_handshake_response.SaslHandshakeResponse(error_code=error, mechanisms=offered)
        text = refused("a refused mechanism", LoginError, self.dialog.answered, answer)
        named("a refused mechanism", text, error_name(error), *(offered or ("none",)))
        return True

    def _ends(self) -> bool:
        """Compare an error of the server, which is drawn seldom; return whether it is."""
        if self.random.random() >= 0.1:
            return False
        error = ErrorCode.SASL_AUTHENTICATION_FAILED
        answer = Answer(error_code=error, error_message="no such user")
        text = refused("an error of the server", LoginError, self.dialog.answered, answer)
        named("an error of the server", text, error_name(error), "no such user")
        check("a refused login is open", not self.dialog.is_complete)
        return True

    def _data(self, request: tuple[Message, int] | None) -> bytes:
        check("a login goes on", request is not None)
        assert request is not None, "this was checked"
        message, version = request
        same("the version of SaslAuthenticate", version, AUTHENTICATE)
        check("a login goes on with SaslAuthenticate", isinstance(message, Authenticate))
        assert isinstance(message, Authenticate), "this was checked"
        return message.auth_bytes


Authenticate = sasl_authenticate_request.SaslAuthenticateRequest
