"""Draw the requests that the active controller decides, with the broker's own part of them.

A broker judges the configurations of brokers and loggers (KIP-226, KIP-412), and who may ask about
tokens (KIP-48). The rest of a request goes to the controller.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers.drawn_tokens import may_ask
from kraftproof.cluster.simulated.differential.core.whole_refusals import refused_answer, texts_of
from kraftproof.cluster.simulated.differential.data.drawn_rights import USERS
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.door.forward_model import Judge
from kraftproof.cluster.simulated.differential.door.view import CREATE_TOKENS, USER, View
from kraftproof.cluster.simulated.differential.rules.config_changes import (
    answer_of,
    draw_resource,
    errors_of,
    request_of,
)
from kraftproof.cluster.simulated.differential.wire.drawn_entities import draw_entity
from kraftproof.node.core.events import Received
from kraftproof.node.wire.codec import REQUESTS, RESPONSES
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, create_delegation_token_request

ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS = 33, 44
CREATE_TOKEN, RENEW_TOKEN, EXPIRE_TOKEN = 38, 39, 40
TIMEOUTS_MS: Final = (-1, 0, 1, 2, 3, 4, 15, 120, 9_999, 10_000, 10_001, 60_000, (1 << 31) - 1)


class Change(Struct, kw_only=True):
    """A request of a client for a change."""

    asked: Message
    forwarded: Message | None
    """The part for the controller; None without such a part."""
    judge: Judge
    """Compares the client's answer with the controller's answer, or with an error."""
    refuse: Callable[[Received], ErrorCode | None] | None = None
    """Returns the error with which the broker refuses the whole request, or None."""
    answer: Callable[[Random], Message]
    """Draws the answer of a controller."""


def draw_change(view: View, key: int) -> Change:
    """Return a request of a type."""
    if key in {ALTER_CONFIGS, INCREMENTAL_ALTER_CONFIGS}:
        return _configs(view, is_legacy=key == ALTER_CONFIGS)
    random = view.random
    asked: Any = draw_entity(REQUESTS[key].message, random)
    if hasattr(asked, "timeout_ms"):
        asked = replace(asked, timeout_ms=random.choice(TIMEOUTS_MS))
    if key == CREATE_TOKEN:
        asked = _token(view)
    is_token = key in {CREATE_TOKEN, RENEW_TOKEN, EXPIRE_TOKEN}

    def judge(answer: Message, found: Message | int) -> None:
        if isinstance(found, Message):
            same("the controller's answer", answer, found)
            return
        texts = texts_of(answer)
        reason = texts[0] if texts else ""
        expected = refused_answer(asked, ErrorCode(found), reason)
        same(f"the refusal of a forwarded {type(asked).__name__}", answer, expected)

    return Change(
        asked=asked,
        forwarded=asked,
        judge=judge,
        refuse=(lambda event: _token_error(view, event)) if is_token else None,
        answer=lambda random: draw_entity(RESPONSES[key].message, random),
    )


def _configs(view: View, *, is_legacy: bool) -> Change:
    random, own = view.random, view.config.node_id
    count = random.choice((0, 1, 1, 2, 3))
    asked = [draw_resource(random, own, is_legacy=is_legacy) for _ in range(count)]
    errors = errors_of(asked, own, is_legacy=is_legacy)
    rest = tuple(one for one, error in zip(asked, errors, strict=True) if error is None)
    whole = replace(
        request_of(tuple(asked), is_legacy=is_legacy), validate_only=random.random() < 0.5
    )

    def judge(answer: Any, found: Any) -> None:  # noqa: ANN401 - of either request
        if isinstance(found, int):
            decided = iter([found] * len(rest))
        else:
            decided = iter([one.error_code for one in found.responses])
        due = [
            (one.resource_type, one.resource_name, next(decided) if error is None else int(error))
            for one, error in zip(asked, errors, strict=True)
        ]
        told = [(one.resource_type, one.resource_name, one.error_code) for one in answer.responses]
        same("the merged answer", told, due)

    def decide(random: Random) -> Message:
        given = [random.choice((ErrorCode.NONE, ErrorCode.INVALID_CONFIG)) for _ in rest]
        answer: Message = answer_of(rest, given, is_legacy=is_legacy)
        return answer

    return Change(
        asked=whole,
        forwarded=replace(whole, resources=rest) if rest or not asked else None,
        judge=judge,
        answer=decide,
    )


def _token(view: View) -> Message:
    """Return the creation of a token, for the client or for another owner."""
    random, module = view.random, create_delegation_token_request
    kind, _, name = random.choice(("", *USERS)).partition(":")
    renewer = random.choice(("User", "User", "Group"))
    return module.CreateDelegationTokenRequest(
        owner_principal_type=kind or None,
        owner_principal_name=name or None,
        renewers=(module.CreatableRenewers(principal_type=renewer, principal_name="r"),),
        max_lifetime_ms=random.choice((-1, 5)),
    )


def _token_error(view: View, event: Received) -> ErrorCode | None:
    """Return the error of a change of a token that no controller sees."""
    if not may_ask(event):
        return ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    request = event.message
    if not isinstance(request, create_delegation_token_request.CreateDelegationTokenRequest):
        return None
    own = f"{event.principal.type}:{event.principal.name}"
    owner = f"{request.owner_principal_type}:{request.owner_principal_name}"
    is_own = request.owner_principal_type is None or owner == own
    if not is_own and not view.allows(event, CREATE_TOKENS, USER, owner):
        return ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    if any(renewer.principal_type != "User" for renewer in request.renewers):
        return ErrorCode.INVALID_PRINCIPAL_TYPE
    return None
