"""The computations of SCRAM by RFC 5802, from hashes alone."""

import base64
import hashlib
import hmac
from functools import lru_cache
from typing import Final

from msgspec import Struct

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
NUMBERS: Final = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
"""The numbers of the mechanisms in requests and records (KIP-554)."""
NO_BINDING: Final = "biws"
"""`n,,` in Base64: no channel binding, and no authorization id."""
TOKEN_PART: Final = ",tokenauth=true"  # noqa: S105 - no secret


class Keys(Struct, frozen=True):
    """The keys of a password, and of its client."""

    client_key: bytes
    stored_key: bytes
    server_key: bytes


@lru_cache(maxsize=4096)
def keys_of_password(mechanism: str, password: str, salt: bytes, iterations: int) -> Keys:
    """Return the keys of a password."""
    name = HASHES[mechanism]
    text = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
    client_key = hmac.digest(text, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    return Keys(client_key, stored_key, hmac.digest(text, b"Server Key", name))


def token_password(secret: str, token_id: str) -> str:
    """Return the password of a delegation token: the HMAC of its id (KIP-48)."""
    return encoded(hmac.digest(secret.encode(), token_id.encode(), "sha512"))


def encoded(data: bytes) -> str:
    """Return bytes in Base64."""
    return base64.b64encode(data).decode()


def written_name(user: str) -> str:
    """Return a user name as a client writes it."""
    return user.replace("=", "=3D").replace(",", "=2C")


def parts_of(text: str) -> dict[str, str]:
    """Return the values of a message by their letters."""
    return {part[0]: part[2:] for part in text.split(",") if part[1:2] == "="}


def proof(mechanism: str, keys: Keys, signed: str) -> bytes:
    """Return the proof of a client for the signed messages."""
    signature = hmac.digest(keys.stored_key, signed.encode(), HASHES[mechanism])
    return bytes(one ^ other for one, other in zip(keys.client_key, signature, strict=True))


def server_signature(mechanism: str, keys: Keys, signed: str) -> bytes:
    """Return the signature of a server for the signed messages."""
    return hmac.digest(keys.server_key, signed.encode(), HASHES[mechanism])
