"""Compare changes of configurations with the values that a resource has after them (KIP-339).

The values after a change are judged together, those that the request does not name too: a topic
with a minimum lag of 5 refuses a maximum of 1. A resource changes as a whole or not at all, beside
others of the request. A record is written for each changed value; a broker gets a record for an
unchanged value, too, since it then reads its files anew (KIP-226).
"""

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.controller.configs.alter import alter_configs, incremental_alter_configs
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_configs_request,
    incremental_alter_configs_request,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 8
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT, UNKNOWN = 0, 1, 2, 3, 9
OPERATIONS: Final = (SET, SET, SET, SET, DELETE, DELETE, APPEND, SUBTRACT)
OF_LISTS: Final = (SET, DELETE, APPEND, APPEND, SUBTRACT, SUBTRACT)
SHORTEST, LONGEST = "min.compaction.lag.ms", "max.compaction.lag.ms"
POLICY, THROTTLED = "cleanup.policy", "follower.replication.throttled.replicas"
REMOTE: Final = "remote.storage.enable"
LAGS: Final = ("1", "5", "9")
VALUES: Final[Mapping[int, Mapping[str, tuple[str, ...]]]] = {
    TOPIC: {
        SHORTEST: (*LAGS, "x"),
        LONGEST: (*LAGS, "0"),
        POLICY: ("delete", "compact", "delete,compact", "none"),
        THROTTLED: ("0:1", "1:2,0:1", "1:2", "y"),
        REMOTE: ("false", "true"),
        "retention.ms": ("7", "8", "-2"),
        "no.such.key": ("1",),
    },
    BROKER: {"num.io.threads": ("8", "9", "x"), "log.cleaner.threads": ("1", "2")},
    METRICS: {"interval.ms": ("1000", "5000")},
    GROUP: {
        "consumer.session.timeout.ms": ("45000", "50000", "x"),
        "consumer.heartbeat.interval.ms": ("5000", "6000", "no"),
    },
    LOGGER: {"kafka": ("INFO",)},
}
"""The drawn values of each kind of resource."""
WRONG: Final = {"x", "0", "none", "y", "true", "-2", "1", "no"}
"""The illegal values of topics and groups, of which a lag may be 1."""
DEFAULTS: Final = {POLICY: "delete", THROTTLED: ""}
"""The lists, with the defaults that members are appended to."""
NAMES: Final = {
    TOPIC: ("t", "t", "t", "u", "u", "absent", "no name", ""),
    BROKER: ("1", "1", "", "2", "7", "x"),
    METRICS: ("m", ""),
    GROUP: ("g", "g", "h", ""),
    LOGGER: ("1",),
}
KINDS: Final = (TOPIC,) * 6 + (BROKER, BROKER, GROUP, GROUP, METRICS, LOGGER)
Key = tuple[int, str]
Texts = dict[str, str]
Change = tuple[str, int, str | None]
"""A name, an operation and a value."""


def compare_altered_configs(random: Random) -> None:
    """Change configurations of resources that have values.

    Raises:
        DifferenceError: a resource has another error, or other values are written.
    """
    for _ in range(ROUNDS):
        present = {
            key: _draw_present(random, key[0])
            for key in ((TOPIC, "t"), (TOPIC, "u"), (BROKER, "1"), (BROKER, ""), (GROUP, "g"))
        }
        for _ in range(2):
            _compare(random, _image(present), present)


def _compare(random: Random, image: MetadataImage, present: dict[Key, Texts]) -> None:
    is_legacy = random.random() < 0.3
    asked = _draw_asked(random, is_legacy=is_legacy)
    validates = random.random() < 0.1
    times = Counter(key for key, _ in asked)
    if is_legacy:
        legacy = alter_configs_request
        outcome = alter_configs(image, _request(legacy, "AlterConfigsRequest", asked, validates))
    else:
        module = incremental_alter_configs_request
        request = _request(module, "IncrementalAlterConfigsRequest", asked, validates)
        outcome = incremental_alter_configs(image, request)
    reply: Any = outcome.reply
    answered = [(one.resource_type, one.resource_name) for one in reply.responses]
    same("the answered resources", answered, [key for key, _ in asked])
    due: list[tuple[int, str, str, str | None]] = []
    for (key, changes), answer in zip(asked, reply.responses, strict=True):
        values = present.get(key, {})
        after = _after(values, changes, is_legacy=is_legacy)
        errors = _errors(key, changes, after)
        if times[key] > 1:
            errors.add(ErrorCode.INVALID_REQUEST)
        found = ErrorCode(answer.error_code)
        what = f"the error of {changes} of {key} with {values}"
        same(what, found, found if found in errors or (not errors and not found) else errors)
        same(f"a reason of {found.name}", bool(answer.error_message), bool(found))
        if not errors and not validates:
            named = {name for name, _, _ in changes} | (set(values) if is_legacy else set())
            due += (
                (*key, name, after.get(name))
                for name in named
                if key[0] == BROKER or after.get(name) != values.get(name)
            )
    same("the written values", sorted(map(_row, outcome.records), key=repr), sorted(due, key=repr))


def _row(one: Record) -> tuple[int, str, str, str | None]:
    assert isinstance(one, records.ConfigRecord), "no drawn value allows elections"
    return one.resource_type, one.resource_name, one.name, one.value


def _after(values: Texts, changes: list[Change], *, is_legacy: bool) -> Texts:
    """Return the values after a change; AlterConfigs replaces all values."""
    after = {} if is_legacy else dict(values)
    for name, operation, text in changes:
        members = [one for one in values.get(name, DEFAULTS.get(name, "")).split(",") if one]
        given = (text or "").split(",")
        if operation == DELETE:
            after.pop(name, None)
        elif operation == SET and text is not None:
            after[name] = text
        elif text is None or name not in DEFAULTS:
            continue  # refused: there is no value, or no list
        elif operation == APPEND:
            after[name] = ",".join([*members, *(one for one in given if one not in members)])
        else:
            after[name] = ",".join(one for one in members if one not in given)
    return after


def _errors(key: Key, changes: list[Change], after: Texts) -> set[ErrorCode]:
    """Return the causes of a refusal; any of them may be answered."""
    kind, name = key
    errors = {ErrorCode.INVALID_REQUEST} if _is_wrong_request(kind, name, changes) else set()
    if any(change[1] in {APPEND, SUBTRACT} and change[0] not in DEFAULTS for change in changes):
        errors.add(ErrorCode.INVALID_CONFIG)
    if kind in {TOPIC, GROUP, METRICS} and not _is_legal(after):
        errors.add(ErrorCode.INVALID_CONFIG)
    if kind == TOPIC and name == "no name":
        errors.add(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if kind == TOPIC and name == "absent":
        errors.add(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if kind == BROKER and name == "7":
        errors.add(ErrorCode.BROKER_ID_NOT_REGISTERED)
    return errors


def _is_wrong_request(kind: int, name: str, changes: list[Change]) -> bool:
    return (
        kind == LOGGER
        or (kind == BROKER and name == "x")
        or (kind != BROKER and not name)
        or len({change[0] for change in changes}) < len(changes)
        or any(operation == UNKNOWN for _, operation, _ in changes)
        or any(text is None and operation != DELETE for _, operation, text in changes)
        # No node has a receiver for the metrics of clients.
        or (kind == METRICS and any(operation != DELETE for _, operation, _ in changes))
    )


def _is_legal(after: Texts) -> bool:
    """Return whether values of a topic or a group are legal, alone and together."""
    for name, text in after.items():
        is_lag = name in {SHORTEST, LONGEST} and text in LAGS
        if name == "no.such.key" or not (is_lag or WRONG.isdisjoint(text.split(","))):
            return False
    if SHORTEST in after and LONGEST in after:
        return int(after[SHORTEST]) <= int(after[LONGEST])
    return True


def _draw_present(random: Random, kind: int) -> Texts:
    """Return the values of a resource, seldom illegal ones: a record of another node may be."""
    drawn = {}
    for name, texts in VALUES[kind].items():
        if random.random() < 0.5 and name != "no.such.key":
            legal = [text for text in texts if text in LAGS or text not in WRONG]
            legal += ["", ""] if name in DEFAULTS else []  # an empty list is no default
            drawn[name] = random.choice(legal if random.random() < 0.98 else texts)
    if SHORTEST in drawn and random.random() < 0.9:
        drawn[LONGEST] = max(drawn[SHORTEST], drawn.get(LONGEST, "1"))
    return drawn


def _draw_asked(random: Random, *, is_legacy: bool) -> list[tuple[Key, list[Change]]]:
    asked = []
    for _ in range(random.choice((1, 1, 2, 3))):
        kind = random.choice(KINDS)
        names = list(VALUES[kind])
        if random.random() < 0.4:
            names = [name for name in names if name in DEFAULTS] or names
        count = min(random.choice((0, 1, 1, 1, 2, 3)), len(names))
        chosen = random.sample(names, count)
        chosen += chosen[:1] if random.random() < 0.05 else []
        changes = [_draw_change(random, kind, name, is_legacy=is_legacy) for name in chosen]
        asked.append(((kind, random.choice(NAMES[kind])), changes))
    return asked


def _draw_change(random: Random, kind: int, name: str, *, is_legacy: bool) -> Change:
    texts = VALUES[kind][name]
    legal = [text for text in texts if text in LAGS or text not in WRONG] or texts
    text = random.choice(legal if random.random() < 0.9 else texts)
    drawn = random.choice(OF_LISTS if name in DEFAULTS else OPERATIONS)
    operation = SET if is_legacy else drawn
    if operation in {APPEND, SUBTRACT} and name not in DEFAULTS and random.random() < 0.9:
        operation = SET
    if not is_legacy and random.random() < 0.02:
        operation = UNKNOWN
    return name, operation, None if operation == DELETE or random.random() < 0.02 else text


def _request(module: Any, kind: str, asked: list[tuple[Key, list[Change]]], validates: bool) -> Any:  # noqa: ANN401, FBT001
    """Return the request of one of two modules, which have the same names."""
    is_legacy = module is alter_configs_request
    resources = tuple(
        module.AlterConfigsResource(
            resource_type=key[0],
            resource_name=key[1],
            configs=tuple(
                module.AlterableConfig(name=name, value=text)
                if is_legacy
                else module.AlterableConfig(name=name, value=text, config_operation=operation)
                for name, operation, text in changes
            ),
        )
        for key, changes in asked
    )
    return getattr(module, kind)(resources=resources, validate_only=validates)


def _image(present: dict[Key, Texts]) -> MetadataImage:
    written: list[Record] = [registered(broker, (Uuid(b"d" * 16),)) for broker in (1, 2)]
    written += (
        records.TopicRecord(name=name, topic_id=Uuid(name.encode() * 16)) for name in ("t", "u")
    )
    written += (
        records.ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
        for (kind, name), values in present.items()
        for key, value in values.items()
    )
    return apply_all(EMPTY_IMAGE, tuple(written))
