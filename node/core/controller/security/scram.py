"""Decide AlterUserScramCredentials (KIP-554): the log gets keys, never a password."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.credentials import scram_credential
from kraftproof.node.core.security.mechanisms import MAX_ITERATIONS, MIN_ITERATIONS
from kraftproof.node.core.security.scram import MIN_SALT, derive_keys, is_known_number
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request,
    alter_user_scram_credentials_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

Request = alter_user_scram_credentials_request.AlterUserScramCredentialsRequest
Deletion = alter_user_scram_credentials_request.ScramCredentialDeletion
Upsertion = alter_user_scram_credentials_request.ScramCredentialUpsertion
Result = alter_user_scram_credentials_response.AlterUserScramCredentialsResult
_NONE: Final = (ErrorCode.NONE, None)
_TWICE: Final = (
    ErrorCode.DUPLICATE_RESOURCE,
    "A user credential cannot be altered twice in the same request",
)
Verdict = tuple[ErrorCode, str | None]
"""The error of a change and its reason."""


def alter_user_scram_credentials(image: MetadataImage, request: Request) -> Outcome:
    """Delete and replace credentials; each user may be named once, as in Kafka."""
    changes: list[Deletion | Upsertion] = [*request.deletions, *request.upsertions]
    times = Counter(change.name for change in changes)
    verdicts = {
        change.name: _TWICE if times[change.name] > 1 else _judge(image, change)
        for change in changes
    }
    accepted = {name for name, verdict in verdicts.items() if verdict is _NONE}
    written = tuple(_records(request, accepted))
    reply = alter_user_scram_credentials_response.AlterUserScramCredentialsResponse(
        results=tuple(
            Result(user=name, error_code=error, error_message=reason)
            for name, (error, reason) in verdicts.items()
        )
    )
    return Outcome(reply=reply, records=written)


def _records(request: Request, accepted: set[str]) -> Iterable[Record]:
    for deletion in request.deletions:
        if deletion.name in accepted:
            yield records.RemoveUserScramCredentialRecord(
                name=deletion.name, mechanism=deletion.mechanism
            )
    for upsertion in request.upsertions:
        if upsertion.name in accepted:
            stored_key, server_key = derive_keys(upsertion.mechanism, upsertion.salted_password)
            yield records.UserScramCredentialRecord(
                name=upsertion.name,
                mechanism=upsertion.mechanism,
                salt=upsertion.salt,
                stored_key=stored_key,
                server_key=server_key,
                iterations=upsertion.iterations,
            )


def _judge(image: MetadataImage, change: Deletion | Upsertion) -> Verdict:
    if not change.name:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"
    if not is_known_number(change.mechanism):
        return ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"
    if isinstance(change, Upsertion):
        return _judge_upsertion(change)
    if scram_credential(image, change.name, change.mechanism) is None:
        return (
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        )
    return _NONE


def _judge_upsertion(change: Upsertion) -> Verdict:
    if change.iterations < MIN_ITERATIONS:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"
    if change.iterations > MAX_ITERATIONS:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"
    if len(change.salt) < MIN_SALT:
        return (
            ErrorCode.UNACCEPTABLE_CREDENTIAL,
            f"A salt of {len(change.salt)} bytes is too short; {MIN_SALT} are expected",
        )
    if not change.salted_password:
        return ErrorCode.UNACCEPTABLE_CREDENTIAL, "The salted password must not be empty"
    return _NONE
