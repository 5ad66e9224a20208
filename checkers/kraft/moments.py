"""Tells when nodes passed an offset of the metadata log, from their traces (KIP-595).

A check of logs or snapshots finds a node and an offset, and no time. The time of such a finding is
the moment at which the node first reported a high watermark above the offset: from that moment on
the node answered for the record. A log's end is no such moment, since a node may truncate.
"""

from collections.abc import Callable, Iterable

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.verdict import Finding


def passed_at(trace: pa.Table, offset: int, node: str | None) -> int | None:
    """Return when a node first reported a high watermark above an offset.

    Args:
        trace: the table of the run.
        offset: the offset.
        node: the node; None for the first node that did.

    Returns:
        ns of the run; None if the trace does not say.
    """
    passed = pc.fill_null(pc.greater(trace["high_watermark"], offset), False)  # noqa: FBT003 a value
    if node is not None:
        passed = pc.and_(passed, pc.equal(pc.cast(trace["node"], pa.string()), node))
    first: int | None = pc.min(trace.filter(passed)["run_time"]).as_py()
    return first


def timed(findings: Iterable[Finding], trace: Callable[[], pa.Table | None]) -> list[Finding]:
    """Return findings; those that name an offset and no time get their time.

    Args:
        findings: those of one check.
        trace: returns the table `trace` of the run; called only if a finding needs the table.
    """
    found = list(findings)
    if all(one.log_offset is None or one.time_ns is not None for one in found):
        return found
    table = trace()
    return found if table is None else [_timed(one, table) for one in found]


def _timed(finding: Finding, trace: pa.Table) -> Finding:
    if finding.log_offset is None or finding.time_ns is not None:
        return finding
    at = passed_at(trace, finding.log_offset, finding.node)
    return msgspec.structs.replace(finding, time_ns=at)
