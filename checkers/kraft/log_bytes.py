"""Compares the bytes of the nodes' committed batches (KIP-595: followers append what they fetch).

A follower appends each batch as its leader sent the batch. So below the least high watermark all
logs have the same bytes, whoever wrote the nodes. The check compares what lies on the disks and
reads no record: a changed byte that no node has read again is found as well. A log may begin later
than others, since a snapshot takes the place of older batches.
"""

import base64
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from kraftproof.checkers.history.tables import rows_of
from kraftproof.checkers.kraft.node_logs import Tables, finding, limited
from kraftproof.checkers.verdict import Finding, NotApplicableError

LOGS_IDENTICAL: Final = "kraft/logs-identical"

_FIELDS: Final = (
    (0, "the base offset"),
    (8, "the batch length"),
    (12, "the leader epoch"),
    (16, "the magic"),
    (17, "the CRC"),
    (21, "the attributes"),
    (23, "the last offset delta"),
    (27, "the first timestamp"),
    (35, "the last timestamp"),
    (43, "the producer id"),
    (51, "the producer epoch"),
    (53, "the base sequence"),
    (57, "the number of records"),
    (61, "the records"),
)
"""First byte of each part of a batch of version 2."""

Logs = Mapping[int, Mapping[int, str]]
"""By node and base offset: the bytes of a batch, in base64."""


def logs_identical(tables: Tables) -> list[Finding]:
    """Find the first committed batch of each node that differs from the other nodes' batch."""
    watermarks = _watermarks(tables)
    least = min(watermarks.values(), default=0)
    logs: dict[int, dict[int, str]] = {node: {} for node in sorted(watermarks)}
    for node, base, following, data in rows_of(
        tables["batches"], "node", "base_offset", "next_offset", "data"
    ):
        if node in logs and isinstance(following, int) and following <= least:
            assert isinstance(base, int)
            logs[_int(node)][base] = str(data)
    if sum(map(bool, logs.values())) < 2:
        raise NotApplicableError("fewer than two logs have committed batches")
    return limited(_differences(logs))


def _watermarks(tables: Tables) -> dict[int, int]:
    """Return the highest high watermark that each node reported."""
    highest: dict[int, int] = {}
    for node, watermark in rows_of(tables["trace"], "node", "high_watermark"):
        if isinstance(node, int) and isinstance(watermark, int):
            highest[node] = max(highest.get(node, watermark), watermark)
    return highest


def _differences(logs: Logs) -> Iterator[Finding]:
    begins = {node: min(log) for node, log in logs.items() if log}
    seen: set[int] = set()
    for offset in sorted({offset for log in logs.values() for offset in log}):
        holders = [node for node in begins if begins[node] <= offset]
        usual = _usual(logs, offset, holders)
        for node in holders:
            if node not in seen and logs[node].get(offset) != usual[1]:
                seen.add(node)
                yield _finding(node, offset, logs[node].get(offset), usual)


def _usual(logs: Logs, offset: int, holders: list[int]) -> tuple[int, str | None]:
    """Return what most logs have at an offset, with the first node that has it."""
    found = [logs[node].get(offset) for node in holders]
    (data, _), *_ = Counter(found).most_common(1)
    return holders[found.index(data)], data


def _finding(node: int, offset: int, data: str | None, usual: tuple[int, str | None]) -> Finding:
    other, expected = usual
    if data is None:
        fact = f"the log of node {node} has no batch at offset {offset}"
        reason = f"node {other} has a batch there, below the high watermark of all nodes"
    elif expected is None:
        fact = f"the log of node {node} has a batch at offset {offset}"
        reason = f"node {other} has none there, below the high watermark of all nodes"
    else:
        fact = f"the committed batch at offset {offset} has other bytes on node {node}"
        reason = _first_difference(base64.b64decode(data), base64.b64decode(expected), node, other)
    return finding(LOGS_IDENTICAL, fact, reason=reason, node=node, log_offset=offset)


def _first_difference(data: bytes, expected: bytes, node: int, other: int) -> str:
    if len(data) != len(expected):
        return f"it is {len(data)} bytes long, but {len(expected)} on node {other}"
    place = next(at for at, pair in enumerate(zip(data, expected, strict=True)) if len({*pair}) > 1)
    part = [name for first, name in _FIELDS if first <= place][-1]
    return (
        f"byte {place} of the batch, in {part}, is 0x{data[place]:02x} on node {node}, "
        f"but 0x{expected[place]:02x} on node {other}"
    )


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
