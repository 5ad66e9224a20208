"""Parse --add-scram: `SCRAM-SHA-256=[name=alice,password=secret,iterations=8192]` (KIP-900)."""

import base64
import binascii
import secrets
from typing import Final

from kraftproof.node.core.security.mechanisms import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    SCRAM_NUMBERS,
)
from kraftproof.node.core.security.scram import MIN_SALT, ScramKeys, derive_keys, password_keys
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.wire.records.metadata import UserScramCredentialRecord

_KEYS: Final = frozenset({"name", "password", "saltedpassword", "salt", "iterations"})
_SALT_BYTES: Final = 24


def parse_add_scram(text: str) -> UserScramCredentialRecord:
    """Return the credential of an argument.

    Raises:
        ConfigError: the argument is not valid; the message repeats no password.
    """
    mechanism, equals, rest = text.partition("=")
    if not equals or mechanism not in SCRAM_NUMBERS:
        raise _wrong(f"{mechanism!r} is none of {', '.join(SCRAM_NUMBERS)}")
    if not rest.startswith("[") or not rest.endswith("]"):
        raise _wrong("expected MECHANISM=[name=NAME,password=PASSWORD]")
    values: dict[str, str] = {}
    for part in rest[1:-1].split(","):
        key, equals, value = part.strip().partition("=")
        if not equals or key not in _KEYS or key in values:
            raise _wrong(f"expected each of {', '.join(sorted(_KEYS))} at most once")
        values[key] = value.strip('"')
    return _credential(SCRAM_NUMBERS[mechanism], values)


def _credential(number: int, values: dict[str, str]) -> UserScramCredentialRecord:
    name = values.get("name")
    if not name:
        raise _wrong("name is missing")
    if ("password" in values) == ("saltedpassword" in values):
        raise _wrong("expected one of password and saltedpassword")
    if "saltedpassword" in values and "salt" not in values:
        raise _wrong("saltedpassword needs its salt")
    iterations = values.get("iterations", str(MIN_ITERATIONS))
    if not iterations.isdecimal() or not MIN_ITERATIONS <= int(iterations) <= MAX_ITERATIONS:
        raise _wrong(f"iterations={iterations}: expected {MIN_ITERATIONS} to {MAX_ITERATIONS}")
    salt = _base64("salt", values["salt"]) if "salt" in values else secrets.token_bytes(_SALT_BYTES)
    if len(salt) < MIN_SALT:
        raise _wrong(f"salt: expected at least {MIN_SALT} bytes")
    if "password" in values:
        keys = password_keys(number, values["password"], salt, int(iterations))
    else:
        stored, server = derive_keys(number, _base64("saltedpassword", values["saltedpassword"]))
        keys = ScramKeys(
            salt=salt, stored_key=stored, server_key=server, iterations=int(iterations)
        )
    return UserScramCredentialRecord(
        name=name,
        mechanism=number,
        salt=keys.salt,
        stored_key=keys.stored_key,
        server_key=keys.server_key,
        iterations=keys.iterations,
    )


def _base64(key: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _wrong(f"{key} is not base64") from error


def _wrong(reason: str) -> ConfigError:
    return ConfigError(f"--add-scram: {reason}")
