"""Compare the answers of requests that are refused as a whole with a table of Kafka's answers.

The table says for each request where an answer has the error: at the top, in each part, or in each
part of a part; and by which fields a part is named.
"""

from random import Random
from typing import Any, Final, cast, get_args, get_type_hints

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.wire.drawn_entities import draw_entity
from kraftproof.node.core.controller.credential_refusals import creation_refusal
from kraftproof.node.core.controller.refusals import has_refusal, not_controller, refusal
from kraftproof.node.core.events import Received
from kraftproof.node.wire.codec import REQUESTS, RESPONSES
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS, Principal

ERROR, TEXT = "error_code", "error_message"
CODE: Final = (ERROR,)
BOTH: Final = (ERROR, TEXT)
ENVELOPE: Final = 58
CREATE_TOKEN: Final = 38
REQUESTER_SINCE: Final = 3
"""The version of CreateDelegationToken from which the answer names the requester (KIP-900)."""
NO_TIMES: Final = {"issue_timestamp_ms": -1, "expiry_timestamp_ms": -1, "max_timestamp_ms": -1}


class Part(Struct, frozen=True, kw_only=True):
    """The parts of an answer: a list of the answer for a list of the request."""

    answered: str
    asked: str
    named: dict[str, str] = {}
    """The fields of the answer's part, with those of the request's part."""
    number: str = ""
    """The field of the answer's part for a part that is a bare number or name."""
    errors: tuple[str, ...] = BOTH
    within: "Part | None" = None


class Answer(Struct, frozen=True, kw_only=True):
    """The answer of a refused request."""

    errors: tuple[str, ...] = ()
    """The fields of the error at the top."""
    parts: tuple[Part, ...] = ()
    others: dict[str, int] = {}


def _resources(answered: str, asked: str) -> Part:
    same_names = {name: name for name in ("resource_type", "resource_name")}
    return Part(answered=answered, asked=asked, named=same_names)


NAME: Final = {"name": "name"}
OF_TOPICS: Final = {"name": "name", "topic_id": "topic_id"}
OF_ENTITIES: Final = {"entity_type": "entity_type", "entity_name": "entity_name"}
ANSWERS: Final = {
    "AlterClientQuotas": Answer(
        parts=(
            Part(
                answered="entries",
                asked="entries",
                within=Part(answered="entity", asked="entity", named=OF_ENTITIES, errors=()),
            ),
        )
    ),
    "AlterPartitionReassignments": Answer(
        errors=BOTH,
        parts=(
            Part(
                answered="responses",
                asked="topics",
                named=NAME,
                errors=(),
                within=Part(
                    answered="partitions",
                    asked="partitions",
                    named={"partition_index": "partition_index"},
                ),
            ),
        ),
    ),
    "ElectLeaders": Answer(
        errors=CODE,
        parts=(
            Part(
                answered="replica_election_results",
                asked="topic_partitions",
                named={"topic": "topic"},
                errors=(),
                within=Part(answered="partition_result", asked="partitions", number="partition_id"),
            ),
        ),
    ),
    "CreatePartitions": Answer(parts=(Part(answered="results", asked="topics", named=NAME),)),
    "CreateTopics": Answer(parts=(Part(answered="topics", asked="topics", named=NAME),)),
    "DeleteTopics": Answer(
        parts=(
            Part(answered="responses", asked="topics", named=OF_TOPICS),
            Part(answered="responses", asked="topic_names", number="name"),
        )
    ),
    "AlterConfigs": Answer(parts=(_resources("responses", "resources"),)),
    "IncrementalAlterConfigs": Answer(parts=(_resources("responses", "resources"),)),
    "CreateAcls": Answer(parts=(Part(answered="results", asked="creations"),)),
    "DeleteAcls": Answer(parts=(Part(answered="filter_results", asked="filters"),)),
    "AlterUserScramCredentials": Answer(
        parts=(
            Part(answered="results", asked="deletions", named={"user": "name"}),
            Part(answered="results", asked="upsertions", named={"user": "name"}),
        )
    ),
    "CreateDelegationToken": Answer(errors=CODE, others=NO_TIMES),
    "RenewDelegationToken": Answer(errors=CODE, others={"expiry_timestamp_ms": -1}),
    "ExpireDelegationToken": Answer(errors=CODE, others={"expiry_timestamp_ms": -1}),
    **dict.fromkeys(
        (
            *("UnregisterBroker", "ListPartitionReassignments", "ControllerRegistration"),
            *("UpdateFeatures", "DescribeQuorum", "DescribeUserScramCredentials"),
            *("DescribeAcls", "DescribeClientQuotas", "DescribeCluster"),
        ),
        Answer(errors=BOTH),
    ),
    **dict.fromkeys(
        (
            *("BrokerRegistration", "BrokerHeartbeat", "AlterPartition", "AllocateProducerIds"),
            *("AssignReplicasToDirs", "DescribeLogDirs", "DescribeDelegationToken"),
            *("BeginQuorumEpoch", "EndQuorumEpoch", "Vote", "Fetch", "FetchSnapshot"),
            "ListConfigResources",
        ),
        Answer(errors=CODE),
    ),
}
UNIQUE: Final = frozenset({"AlterUserScramCredentials"})
"""Requests whose answer names each part once."""
REASONS: Final = (None, "", "this is the reason")
ERRORS: Final = (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE)


def compare_whole_refusals(random: Random) -> None:
    """Compare the refusal of a drawn request of each type with the table.

    Raises:
        DifferenceError: a refusal is another one.
    """
    for _, schema in sorted(REQUESTS.items()):
        name = schema.message.__name__.removesuffix("Request")
        asked = draw_entity(schema.message, random)
        same(f"{name} has a refusal", has_refusal(asked), name in ANSWERS)
        if name not in ANSWERS:
            continue
        reason, error = random.choice(REASONS), random.choice(ERRORS)
        expected = refused_answer(asked, error, reason)
        same(f"the refusal of {asked}", refusal(asked, error, reason), expected)
        _compare_untried(random, name, asked)
    _compare_creation(random)


def _compare_untried(random: Random, name: str, asked: Message) -> None:
    """Compare the answer of a node that is no active controller; an Envelope has the error."""
    is_forwarded = random.random() < 0.5
    event = Received(
        request=0,
        message=asked,
        version=0,
        on_controller_listener=True,
        principal=ANONYMOUS,
        client_host="",
        forwarded_by=ANONYMOUS if is_forwarded else None,
    )
    found, error = not_controller(event), ErrorCode.NOT_CONTROLLER
    if is_forwarded:
        same("the Envelope", found, RESPONSES[ENVELOPE].message(error_code=error))
        return
    reason = str(next(iter(texts_of(found)), ""))
    expected = refused_answer(asked, error, reason)
    same(f"the refusal of {name} by no active controller", found, expected)
    same("a reason names the controller", "controller" in reason or not texts_of(found), True)  # noqa: FBT003 - a value


def texts_of(answer: Message) -> list[str]:
    """Return the reasons in an answer and in its parts."""
    found = [text for text in (getattr(answer, TEXT, None),) if text]
    for field in answer.__struct_fields__:
        value = getattr(answer, field)
        for part in value if isinstance(value, tuple) else ():
            if isinstance(part, Struct):
                found += texts_of(cast("Message", part))
    return found


def refused_answer(asked: Message, error: ErrorCode, reason: str | None) -> Message:
    """Return the answer of a refused request by the table."""
    key, name = asked.API_KEY, type(asked).__name__.removesuffix("Request")
    table, kind = ANSWERS[name], cast("Any", RESPONSES[key].message)
    values = {ERROR: error, TEXT: reason}
    lists: dict[str, tuple[Any, ...]] = {}
    for part in table.parts:
        lists[part.answered] = lists.get(part.answered, ()) + _parts(kind, part, asked, values)
    if name in UNIQUE:
        lists = {field: tuple(dict.fromkeys(parts)) for field, parts in lists.items()}
    top = {field: values[field] for field in table.errors}
    return cast("Message", kind(**top, **lists, **table.others))


def _parts(kind: Any, part: Part, asked: Any, values: dict[str, Any]) -> tuple[Any, ...]:  # noqa: ANN401 - classes of many
    """Return the parts of an answer for those of a request."""
    (hint,) = (one for one in _fields(kind) if one[0] == part.answered)
    made = hint[1]
    errors = {field: values[field] for field in part.errors}
    found = []
    for one in getattr(asked, part.asked) or ():
        named = {part.number: one} if part.number else {}
        named |= {ours: getattr(one, theirs) for ours, theirs in part.named.items()}
        if part.within is not None:
            named[part.within.answered] = _parts(made, part.within, one, values)
        found.append(made(**named, **errors))
    return tuple(found)


def _fields(kind: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - a class of many
    """Return the lists of a message's class, with the classes of their elements."""
    found = []
    for name, hint in get_type_hints(kind).items():
        options = [hint, *get_args(hint)]
        tuples = [one for one in options if getattr(one, "__origin__", None) is tuple]
        found += [(name, get_args(one)[0]) for one in tuples[:1]]
    return found


def _compare_creation(random: Random) -> None:
    """Compare the refusal of a token, which names the owner and in newer versions the requester."""
    owner = Principal(type="User", name=random.choice(("alice", "bob")))
    requester = Principal(type=random.choice(("User", "Group")), name="carol")
    version, error = random.choice((1, 2, 3)), ErrorCode.INVALID_PRINCIPAL_TYPE
    is_named = version >= REQUESTER_SINCE
    expected = cast("Any", RESPONSES[CREATE_TOKEN].message)(
        error_code=error,
        principal_type=owner.type,
        principal_name=owner.name,
        token_requester_principal_type=requester.type if is_named else "",
        token_requester_principal_name=requester.name if is_named else "",
        **NO_TIMES,
    )
    found = creation_refusal(error, owner, requester, version)
    same(f"the refusal of a token in version {version}", found, expected)
