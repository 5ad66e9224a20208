"""The configurations of a resource: altered through the controller, described by each broker.

A broker answers from its own image, so an answer may be old, but a broker never goes back. One
resource a key; each value of a configuration is altered once in a run. An incremental alteration
replaces the named configurations; a legacy alteration also removes all others. The rules compare
alterations by real time, so that no search is needed.

A created resource begins with its defaults. A resource that the run did not create, such as the
brokers, may have values from before: a read before each alteration tells the value.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.checkers.findings import finding_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import PropertyModel, unknown_function
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.text import as_json
from kraftproof.checkers.verdict import Finding

ALTERED: Final = "configs/altered"
ORDER: Final = "configs/order"
LATEST: Final = "configs/latest"
AGREE: Final = "configs/agree"
FOREVER: Final = float("inf")
READS: Final = frozenset({"describe", "final"})


class Alteration(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `alter`: the new values by name, and whether all other names are removed."""

    configs: dict[str, str]
    is_legacy: bool = False


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `describe` and `final`: the set values by name; null for a default."""

    configs: dict[str, str | None]


class _Write(msgspec.Struct, frozen=True, gc=False):
    """A new value of one configuration; None removes the value."""

    value: str | None
    begin: float
    end: float
    """The completion; FOREVER for an alteration that may not have happened yet."""


class _Read(msgspec.Struct, frozen=True, gc=False):
    """A value that a broker has described."""

    operation: Operation
    name: str
    value: str | None


class Configs(PropertyModel):
    """The configurations of topics and brokers."""

    name = "configs"
    no_initial_value = "a created resource begins with its defaults, others tell by a first read"
    functions = frozenset({"create", "alter", *READS})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "alter":
            _require("alter takes", operation.input, Alteration)
        elif operation.f in READS and operation.status == "ok":
            _require(f"{operation.f} answers", operation.output, Described)

    @override
    def check(
        self, key: str, operations: Sequence[Operation], options: CheckOptions
    ) -> list[Finding]:
        del options
        reads = [read for one in operations for read in _reads(one)]
        names = {read.name for read in reads}
        writes = _writes(operations, names)
        initial = _initial_values(operations, reads)
        for name in names:
            writes[name].insert(0, _Write(initial.get(name), -FOREVER, -FOREVER))
        found: list[Finding] = []
        for read in reads:
            found += _unaltered(key, read, writes[read.name])
        for one in _of_brokers(reads).values():
            for before, after in pairwise(one):
                found += _went_back(key, before, after, writes[after.name])
        return [*found, *_latest(key, operations, reads, writes)]


def _require(verb: str, value: object, wanted: type[msgspec.Struct]) -> None:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"field value: {verb} another form than {as_json(value)}: {error}"
        ) from None


def _reads(operation: Operation) -> Iterator[_Read]:
    if operation.f in READS and operation.status == "ok":
        described = msgspec.convert(operation.output, Described)
        for name, value in described.configs.items():
            yield _Read(operation, name, value)


def _writes(operations: Sequence[Operation], names: set[str]) -> dict[str, list[_Write]]:
    """Return the alterations that may have happened, by configuration."""
    writes: dict[str, list[_Write]] = defaultdict(list)
    for operation in operations:
        if operation.f != "alter" or operation.status == "fail":
            continue
        asked = msgspec.convert(operation.input, Alteration)
        is_done = operation.status == "ok" and operation.complete_time is not None
        end = float(operation.complete_time or 0) if is_done else FOREVER
        removed = names - set(asked.configs) if asked.is_legacy else set()
        for name, value in (*asked.configs.items(), *dict.fromkeys(sorted(removed)).items()):
            if name in names:
                writes[name].append(_Write(value, float(operation.invoke_time or 0), end))
    return writes


def _initial_values(
    operations: Sequence[Operation], reads: Sequence[_Read]
) -> dict[str, str | None]:
    """Return the values from before the run, by configuration; a default is left out.

    The first read that completes before each alteration begins tells the value. A value that an
    alteration asks for, even in vain, is none from before, since each value is altered once.
    """
    if any(operation.f == "create" for operation in operations):
        return {}
    alterations = [operation for operation in operations if operation.f == "alter"]
    begin = min((operation.invoke_time or 0 for operation in alterations), default=FOREVER)
    asked = {
        item
        for operation in alterations
        for item in msgspec.convert(operation.input, Alteration).configs.items()
    }
    found: dict[str, str | None] = {}
    for read in sorted(reads, key=lambda one: one.operation.complete_time or 0):
        if (read.operation.complete_time or 0) <= begin and (read.name, read.value) not in asked:
            found.setdefault(read.name, read.value)
    return found


def _of_brokers(reads: Sequence[_Read]) -> dict[tuple[str | None, str], list[_Read]]:
    """Return the reads of each broker and configuration that follow each other in real time."""
    chains: dict[tuple[str | None, str], list[_Read]] = defaultdict(list)
    for read in sorted(reads, key=lambda one: one.operation.complete_time or 0):
        chain = chains[read.operation.node, read.name]
        begin = read.operation.invoke_time or 0
        if not chain or (chain[-1].operation.complete_time or 0) <= begin:
            chain.append(read)
    return chains


def _unaltered(key: str, read: _Read, writes: Sequence[_Write]) -> list[Finding]:
    """Return a finding for a value that nobody had altered by then."""
    end = read.operation.complete_time or 0
    if any(write.value == read.value and write.begin < end for write in writes):
        return []
    return [_finding(ALTERED, key, read, "no alteration to this value had begun")]


def _went_back(key: str, before: _Read, after: _Read, writes: Sequence[_Write]) -> list[Finding]:
    """Return a finding for a broker that shows an older value after a newer one."""
    newer = [write for write in writes if write.value == before.value]
    older = [write for write in writes if write.value == after.value]
    is_back = before.value != after.value and all(
        old.end < new.begin for old in older for new in newer
    )
    if not is_back or not newer:
        return []
    reason = f"broker {after.operation.node} showed {_text(before.value)} before, altered later"
    return [_finding(ORDER, key, after, reason)]


def _latest(
    key: str,
    operations: Sequence[Operation],
    reads: Sequence[_Read],
    writes: dict[str, list[_Write]],
) -> list[Finding]:
    """Judge the last final read of each broker."""
    last: dict[tuple[str | None, str], _Read] = {}
    for read in reads:
        if read.operation.f == "final":
            last[read.operation.node, read.name] = read
    found: list[Finding] = []
    for (_, name), read in sorted(last.items(), key=str):
        own = [write for write in writes[name] if write.value == read.value]
        begin = read.operation.invoke_time or 0
        later = [
            write
            for write in writes[name]
            if write.end < begin and own and all(one.end < write.begin for one in own)
        ]
        if later:
            reason = f"it was altered to {_text(later[-1].value)} afterwards"
            found.append(_finding(LATEST, key, read, reason))
        first = next(each for (_, other), each in last.items() if other == name)
        if first.value != read.value:
            reason = f"broker {first.operation.node} shows {_text(first.value)} at the end"
            found.append(_finding(AGREE, key, read, reason))
    del operations
    return found


def _finding(check: str, key: str, read: _Read, reason: str) -> Finding:
    fact = f"broker {read.operation.node} describes {read.name} of {key} as {_text(read.value)}"
    return finding_of(check, key, read.operation, fact, reason)


def _text(value: str | None) -> str:
    return "the default" if value is None else value
