"""Judge AlterUserScramCredentials (Kafka 4.3.0, ScramControlManager; KIP-554, RFC 5802).

The records hold the keys that follow from the salted password, and never the password. Each user
succeeds or fails alone.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name, code_names
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.secrets import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    RemoveUserScramCredentialRecord,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
    UserScramCredentialRecord,
)

HASHES: Final = {1: "sha256", 2: "sha512"}
ITERATIONS: Final = range(4096, 16385)
LEAST_SALT: Final = 12
"""Minimum size of a salt in bytes, a rule of the reference node's library."""
Change = ScramCredentialDeletion | ScramCredentialUpsertion


def _causes(image: Image, change: Change) -> frozenset[Code]:
    """Return the codes that refuse a change; none for a right change."""
    found = set()
    if not change.name:
        found.add(Code.UNACCEPTABLE_CREDENTIAL)
    if change.mechanism not in HASHES:
        found.add(Code.UNSUPPORTED_SASL_MECHANISM)
    if isinstance(change, ScramCredentialUpsertion):
        is_right = change.iterations in ITERATIONS and change.salted_password
        if not is_right or len(change.salt) < LEAST_SALT:
            found.add(Code.UNACCEPTABLE_CREDENTIAL)
    elif (change.name, change.mechanism) not in image.secrets.credentials:
        found.add(Code.RESOURCE_NOT_FOUND)
    return frozenset(found)


def _judged(
    image: Image, request: AlterUserScramCredentialsRequest
) -> dict[str, tuple[Change, frozenset[Code]]]:
    """Return the change of each named user, with the codes that refuse the change."""
    changes: list[Change] = [*request.deletions, *request.upsertions]
    times = Counter(change.name for change in changes)
    twice = frozenset({Code.DUPLICATE_RESOURCE})
    return {
        change.name: (change, twice if times[change.name] > 1 else _causes(image, change))
        for change in changes
    }


def _right_record(change: Change) -> Row:
    if isinstance(change, ScramCredentialDeletion):
        return RemoveUserScramCredentialRecord(name=change.name, mechanism=change.mechanism)
    name = HASHES[change.mechanism]
    client_key = hmac.digest(change.salted_password, b"Client Key", name)
    return UserScramCredentialRecord(
        name=change.name,
        mechanism=change.mechanism,
        salt=change.salt,
        stored_key=hashlib.new(name, client_key).digest(),
        server_key=hmac.digest(change.salted_password, b"Server Key", name),
        iterations=change.iterations,
    )


def wrong_scram_changes(
    image: Image, request: AlterUserScramCredentialsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of AlterUserScramCredentials, or None."""
    right = {
        name: _right_record(change)
        for name, (change, causes) in _judged(image, request).items()
        if not causes
    }
    for record in written:
        if not isinstance(record, UserScramCredentialRecord | RemoveUserScramCredentialRecord):
            return f"a {type(record).__name__} was written"
        if right.pop(record.name, None) != record:
            return f"the credential of {record.name} is not the wanted one, or is not wanted"
    return f"the credential of {next(iter(right))} was not changed" if right else None


def wrong_scram_answer(
    image: Image,
    request: AlterUserScramCredentialsRequest,
    answer: AlterUserScramCredentialsResponse,
) -> str | None:
    """Return why an answer to AlterUserScramCredentials is wrong, or None."""
    judged = _judged(image, request)
    found = {result.user: result.error_code for result in answer.results}
    if len(found) != len(answer.results) or found.keys() != judged.keys():
        return f"the answer is about {sorted(found)}, not about {sorted(judged)}"
    for name, code in found.items():
        causes = judged[name][1] or frozenset({Code.NONE})
        if code not in causes:
            return f"user {name}: {code_name(code)}, not {code_names(causes)}"
    return None


def sets_credentials(written: Sequence[Row]) -> bool:
    """Return whether records are changes of credentials, of which some set one."""
    kinds = {type(record) for record in written}
    return UserScramCredentialRecord in kinds and kinds <= {
        UserScramCredentialRecord,
        RemoveUserScramCredentialRecord,
    }


def likely_scram_change(written: Sequence[Row]) -> AlterUserScramCredentialsRequest | None:
    """Return the removals that explain the records; None if a credential was set.

    The keys of a record do not tell the salted password.
    """
    if not all(isinstance(record, RemoveUserScramCredentialRecord) for record in written):
        return None
    return AlterUserScramCredentialsRequest(
        deletions=tuple(
            ScramCredentialDeletion(name=record.name, mechanism=record.mechanism)
            for record in written
            if isinstance(record, RemoveUserScramCredentialRecord)
        )
    )
