"""Collects what was known around the offset of a finding: sends, polls, final read and replicas.

An order view has a row for each observer and a column for each offset. It explains a finding on a
partition: which observers agree on the record at an offset, and which do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.findings import moment_text
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import iterate_rows
from kraftproof.checkers.text import shown
from kraftproof.checkers.verdict import Finding, FindingKind

BEFORE: Final = 4
AFTER: Final = 4
"""Offsets of an order view on both sides of the finding's offset."""
MOST_POLLS: Final = 10
MOST_VIEWS: Final = 4
_LONGEST_VALUE: Final = 16


class ViewRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one observer knows.

    Attributes:
        label: the observer.
        cells: the value at each offset, in words.
        is_of_finding: whether the finding names the observer's operation.
    """

    label: str
    cells: dict[int, str]
    is_of_finding: bool = False


class OrderView(msgspec.Struct, frozen=True, kw_only=True):
    """The observers of a partition around an offset.

    Attributes:
        key: the partition.
        offset: the offset of the finding.
        sentence: the finding.
        offsets: the columns.
        rows: the observers: acknowledged sends, polls by time, final read, replicas.
    """

    key: str
    offset: int
    sentence: str
    offsets: tuple[int, ...]
    rows: tuple[ViewRow, ...]

    def lines(self) -> list[str]:
        """Return the view as a table of text; a missing record is a dot."""
        table = [["offset", *map(str, self.offsets)]]
        for row in self.rows:
            cells = [row.cells.get(offset, "·") for offset in self.offsets]
            table.append([f"{row.label}{' *' if row.is_of_finding else ''}", *cells])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in table
        ]


def order_views(
    findings: Iterable[Finding], operations: pa.Table, replicas: pa.Table | None
) -> list[OrderView]:
    """Return the views of the first findings on partitions, one for each check and partition.

    Args:
        findings: those of the run.
        operations: the operations of the run.
        replicas: the table of that name, if the run has one.
    """
    chosen: dict[tuple[str, str | None], Finding] = {}
    for one in sorted(findings, key=lambda one: one.kind is not FindingKind.SAFETY):
        if one.check.startswith("log/") and one.key is not None and one.log_offset is not None:
            chosen.setdefault((one.check, one.key), one)
    some = list(chosen.values())[:MOST_VIEWS]
    return [_view(one, operations, replicas) for one in some]


def _view(finding: Finding, operations: pa.Table, replicas: pa.Table | None) -> OrderView:
    assert finding.key is not None
    assert finding.log_offset is not None
    first = max(0, finding.log_offset - BEFORE)
    offsets = tuple(range(first, finding.log_offset + AFTER + 1))
    own = operations.filter(pc.equal(operations.column("key"), finding.key))
    known = [one for one in iterate_rows(own) if one.status == "ok"]
    return OrderView(
        key=finding.key,
        offset=finding.log_offset,
        sentence=finding.sentence,
        offsets=offsets,
        rows=(
            _sends(known, offsets, finding),
            *_polls(known, offsets, finding),
            _final(known, offsets),
            *_replicas(replicas, finding.key, offsets),
        ),
    )


def _value(value: object) -> str:
    """Return a value in few words: of "3.17@k3f9a", which names its run, 3.17."""
    text = shown(value, _LONGEST_VALUE)
    short, at, _ = text.partition("@")
    return short if at and short.replace(".", "", 1).isdecimal() else text


def _sends(known: Sequence[Operation], offsets: Sequence[int], finding: Finding) -> ViewRow:
    cells: dict[int, str] = {}
    is_named = False
    for one in known:
        if one.f == "send" and isinstance(one.output, dict) and one.output["offset"] in offsets:
            is_named |= one.index == finding.operation_index
            offset = one.output["offset"]
            value = _value(one.input["value"]) if isinstance(one.input, dict) else ""
            cells[offset] = f"{cells[offset]} {value}" if offset in cells else value
    return ViewRow(label="acknowledged", cells=cells, is_of_finding=is_named)


def _cells(operation: Operation, offsets: Sequence[int]) -> dict[int, str]:
    assert isinstance(operation.output, dict)
    records = operation.output["records"]
    return {offset: _value(value) for offset, value in records if offset in offsets}


def _polls(known: Sequence[Operation], offsets: Sequence[int], finding: Finding) -> list[ViewRow]:
    """Return the polls that saw some of the offsets: those with a new view, and the finding's."""
    found: list[ViewRow] = []
    seen: set[tuple[tuple[int, str], ...]] = set()
    for one in known:
        cells = _cells(one, offsets) if one.f == "poll" else {}
        is_named = one.f == "poll" and one.index == finding.operation_index
        view = tuple(sorted(cells.items()))
        if (not cells or view in seen) and not is_named:
            continue
        seen.add(view)
        when = "" if one.complete_time is None else f" at {moment_text(one.complete_time)}"
        label = f"poll {one.index} of process {one.process}{when}"
        found.append(ViewRow(label=label, cells=cells, is_of_finding=is_named))
    named = [row for row in found if row.is_of_finding]
    return found if len(found) <= MOST_POLLS else [*found[: MOST_POLLS - len(named)], *named]


def _final(known: Sequence[Operation], offsets: Sequence[int]) -> ViewRow:
    cells: dict[int, str] = {}
    for one in known:
        if one.f == "final":
            cells |= _cells(one, offsets)
    return ViewRow(label="final read", cells=cells)


def _replicas(replicas: pa.Table | None, key: str, offsets: Sequence[int]) -> list[ViewRow]:
    if replicas is None:
        return []
    chosen = pc.and_(
        pc.equal(replicas.column("partition"), key),
        pc.is_in(replicas.column("offset"), pa.array(offsets)),
    )
    by_node: dict[int, dict[int, str]] = {}
    for row in replicas.filter(chosen).to_pylist():
        text = f"{_text(row)} e{row['epoch']}"
        by_node.setdefault(row["node"], {})[row["offset"]] = text
    return [
        ViewRow(label=f"replica on node {node}", cells=cells)
        for node, cells in sorted(by_node.items())
    ]


def _text(row: Mapping[str, object]) -> str:
    value = row["value"]
    return "?" if value is None else _value(str(value).strip('"'))
