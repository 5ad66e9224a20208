"""Checks the answers of clients against the final logs and snapshots.

After a snapshot, the log no longer shows that a change was written, but the effect of the change
must remain. `kept` is not a table that a run writes but a relation: the committed records and, as
rows of type SNAPSHOT at the offset where they end, the snapshots. Not here: the order of things
(the models check it), nor that logs and snapshots agree (`checkers.kraft.snapshots`).
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of, rows_of
from kraftproof.checkers.kraft.entities import Entities, decoded, held_by, known_records
from kraftproof.checkers.kraft.node_logs import (
    FINDINGS_A_CHECK,
    Tables,
    finding,
    operation_finding,
)
from kraftproof.checkers.kraft.registrations import NEVER, Registrations
from kraftproof.checkers.kraft.topic_facts import facts_of
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, NotApplicableError

TOPICS_KEPT: Final = "kraft/acknowledged-topics-kept"
REGISTRATIONS_KEPT: Final = "kraft/acknowledged-registrations-kept"
SNAPSHOT: Final = "SNAPSHOT"
COLUMNS: Final = ("offset", "type", "json")
_SCHEMA: Final = pa.schema([("offset", pa.int64()), ("type", pa.string()), ("json", pa.string())])
_INTERNAL_PREFIX: Final = "__"


def kept(committed: pa.Table, snapshots: pa.Table) -> pa.Table:
    """Return the committed records and the whole snapshots in one table."""
    whole = snapshots.filter(pc.is_valid(snapshots["entities"]))
    types = pa.array([SNAPSHOT] * whole.num_rows, pa.string())
    as_rows = pa.table([whole["offset"], types, whole["entities"]], schema=_SCHEMA)
    return pa.concat_tables([committed.select(COLUMNS).cast(_SCHEMA), as_rows])


def entities_at_end(rows: pa.Table) -> Entities:
    """Return the entities after the log, from its newest whole snapshot or from its start.

    Raises:
        NotApplicableError: no snapshot leads to where the log begins, or a record is not known.
    """
    snapshots: dict[int, str] = {}
    log: dict[int, tuple[str, str]] = {}
    columns: Iterator[tuple[Any, ...]] = rows_of(rows, *COLUMNS)
    for offset, kind, fields in columns:
        # Other checks report differing nodes; the order of rows must not matter.
        if kind == SNAPSHOT:
            snapshots[offset] = min(fields, snapshots.get(offset, fields))
        else:
            log[offset] = min((kind, fields), log.get(offset, (kind, fields)))
    start = max(snapshots, default=0)
    end = max(log, default=start - 1) + 1
    for offset in range(start, end):
        if offset not in log:
            raise NotApplicableError(f"offset {offset} is in no log, nor in a snapshot")
    with known_records():
        entities = held_by(snapshots[start]) if snapshots else Entities()
        for offset in range(start, end):
            kind, fields = log[offset]
            entities.apply(kind, decoded(fields))
    return entities


def topics_kept(tables: Tables) -> list[Finding]:
    """Exactly the topics that were created and not deleted exist."""
    operations = operations_of(tables["operations"])
    rows = tables["kept"]
    topics = entities_at_end(rows).owners("topic")
    names = {topic_id: str(fields["name"]) for topic_id, fields in topics.items()}
    return [
        *islice(_misplaced_topics(operations, names), FINDINGS_A_CHECK),
        *islice(_invented_topics(operations, names, rows), FINDINGS_A_CHECK),
    ]


def _misplaced_topics(operations: list[Operation], names: dict[str, str]) -> Iterator[Finding]:
    for topic_id, facts in facts_of(operations).items():
        create = facts.create
        if facts.may_go_at == NEVER and names.get(topic_id) != create.key:
            fact = f"the creation of topic {shortened(create.key)} ({topic_id}) was acknowledged"
            why = "at the end the topic is in no log or snapshot"
            yield operation_finding(TOPICS_KEPT, create, fact, why)
        elif facts.gone is not None and topic_id in names:
            gone = facts.gone
            fact = f"{gone.f} showed topic {shortened(create.key)} ({topic_id}) as removed"
            why = "at the end the topic is in the logs and snapshots"
            yield operation_finding(TOPICS_KEPT, gone, fact, why)


def _invented_topics(
    operations: list[Operation], names: dict[str, str], rows: pa.Table
) -> Iterator[Finding]:
    seen = facts_of(operations)
    untold_creates: defaultdict[str, int] = defaultdict(int)
    for operation in operations:
        untold_creates[operation.key] += operation.f == "create" and operation.status == "info"
    for topic_id in sorted(names):
        name = names[topic_id]
        if topic_id in seen or name.startswith(_INTERNAL_PREFIX):
            continue
        untold_creates[name] -= 1
        if untold_creates[name] < 0:
            fact = f"topic {shortened(name)} ({topic_id}) was committed and is there at the end"
            why = "no create can have made the topic"
            first = _first_offset(rows, topic_id)
            yield finding(TOPICS_KEPT, fact, reason=why, log_offset=first)


def _first_offset(rows: pa.Table, topic_id: str) -> int | None:
    """Return the first offset known to hold a topic: its record's, or the end of a snapshot."""
    naming: pa.Table = rows.filter(pc.match_substring(rows["json"], topic_id))
    columns: Iterator[tuple[Any, ...]] = rows_of(naming, "offset", "type")
    return min((offset - (kind == SNAPSHOT) for offset, kind in columns), default=None)


def registrations_kept(tables: Tables) -> list[Finding]:
    """A broker id without an unregistration is registered, under no older epoch."""
    brokers = entities_at_end(tables["kept"]).owners("broker")
    by_key: dict[str, list[Operation]] = {}
    for operation in operations_of(tables["operations"]):
        by_key.setdefault(operation.key, []).append(operation)
    found = []
    for key, operations in by_key.items():
        asked = Registrations.of(key, operations)
        if not asked.grants or any(contact.f == "unregister" for contact in asked.contacts):
            continue
        newest = max(asked.grants, key=lambda grant: grant.epoch or 0)
        final = brokers.get(key, {}).get("brokerEpoch")
        if final is None or final < (newest.epoch or 0):
            fact = f"the registration under epoch {newest.epoch} was acknowledged"
            left = "no epoch" if final is None else f"epoch {final}"
            why = f"at the end the logs and snapshots have {left}"
            found.append(asked.finding(REGISTRATIONS_KEPT, newest, fact, reason=why))
    return found
