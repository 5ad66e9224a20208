"""The checks of whole runs, rather than keys, and the tables that each check needs.

A list, and nothing else: the inline engine and the Spark pipeline both walk it.
"""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.kraft import (
    acknowledged,
    describe,
    disk_writes,
    durable,
    kept,
    log_bytes,
    node_logs,
    snapshots,
    topic_shapes,
)
from kraftproof.checkers.kraft.node_logs import Tables
from kraftproof.checkers.kraft.partitions import replicas
from kraftproof.checkers.kraft.specification import LOG_CONFORMS
from kraftproof.checkers.verdict import Finding

REGISTRATION: Final = frozenset({"registration"})
TOPICS: Final = frozenset({"topics"})
PARTITIONS: Final = frozenset({"log"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck:
    """A check of a run's relations.

    Attributes: name: the checked property.
        relations: one or two of RELATION_TABLES.
        models: the models whose operations the check can read; None for all.
        find: returns what is wrong.
    """

    name: str
    relations: tuple[str, ...]
    find: Callable[[Tables], list[Finding]]
    models: frozenset[str] | None = None

    def is_for(self, model: str) -> bool:
        """Return whether the check concerns runs of this model."""
        return self.models is None or model in self.models

    def is_applicable(self, tables: Set[str]) -> bool:
        """Return whether the run has the tables that the check's relations come from."""
        return all(RELATION_TABLES[relation] <= tables for relation in self.relations)


RELATION_TABLES: Final = {
    "operations": frozenset({"operations"}),
    "batches": frozenset({"batches"}),
    "trace": frozenset({"trace"}),
    "writes": frozenset({"writes"}),
    "snapshots": frozenset({"snapshots"}),
    "replicas": frozenset({"replicas"}),
    "committed": frozenset({"records", "trace"}),
    "kept": frozenset({"records", "snapshots", "trace"}),
}


def _came_back(tables: Tables) -> list[Finding]:
    return describe.came_back(operations_of(tables["operations"]))


def _ids_given_twice(tables: Tables) -> list[Finding]:
    return describe.ids_given_twice(operations_of(tables["operations"]))


def _unlike_asked(tables: Tables) -> list[Finding]:
    return topic_shapes.as_asked(operations_of(tables["operations"]))


def _log_conforms(tables: Tables) -> list[Finding]:
    # The import takes 50 ms, and most histories are checked without logs.
    from kraftproof.checkers.kraft.specification.conforming_log import log_conforms

    return log_conforms(tables)


RUN_CHECKS: Final = (
    RunCheck(
        name=replicas.REPLICAS_AGREE,
        relations=("replicas",),
        find=replicas.replicas_agree,
        models=PARTITIONS,
    ),
    RunCheck(
        name=describe.MONOTONIC,
        relations=("operations",),
        find=_came_back,
        models=TOPICS,
    ),
    RunCheck(
        name=describe.IDS_UNIQUE,
        relations=("operations",),
        find=_ids_given_twice,
        models=TOPICS,
    ),
    RunCheck(
        name=topic_shapes.AS_ASKED,
        relations=("operations",),
        find=_unlike_asked,
        models=TOPICS,
    ),
    RunCheck(name=node_logs.LOGS_AGREE, relations=("committed",), find=node_logs.logs_agree),
    RunCheck(
        name=log_bytes.LOGS_IDENTICAL,
        relations=("batches", "trace"),
        find=log_bytes.logs_identical,
    ),
    RunCheck(name=node_logs.ONE_LEADER, relations=("trace",), find=node_logs.one_leader),
    RunCheck(name=node_logs.EPOCHS_MONOTONE, relations=("trace",), find=node_logs.epochs_monotone),
    RunCheck(
        name=node_logs.WATERMARK_MONOTONE, relations=("trace",), find=node_logs.watermark_monotone
    ),
    RunCheck(name=node_logs.IMAGES_AGREE, relations=("trace",), find=node_logs.images_agree),
    RunCheck(name=node_logs.IMAGES_MONOTONE, relations=("trace",), find=node_logs.images_monotone),
    RunCheck(name=node_logs.LOG_IN_ORDER, relations=("committed",), find=node_logs.log_in_order),
    RunCheck(name=durable.LEADER_COMPLETE, relations=("trace",), find=durable.leader_complete),
    RunCheck(
        name=durable.COMMITTED_KEPT, relations=("committed", "trace"), find=durable.committed_kept
    ),
    RunCheck(
        name=snapshots.SNAPSHOTS_AGREE,
        relations=("snapshots",),
        find=snapshots.snapshots_agree,
    ),
    RunCheck(
        name=snapshots.SNAPSHOTS_FOLD_LOG,
        relations=("committed", "snapshots"),
        find=snapshots.snapshots_fold_log,
    ),
    RunCheck(
        name=acknowledged.TOPICS_IN_LOG,
        relations=("operations", "committed"),
        find=acknowledged.topics_in_log,
        models=TOPICS,
    ),
    RunCheck(
        name=LOG_CONFORMS,
        relations=("operations", "committed"),
        find=_log_conforms,
        models=TOPICS | REGISTRATION,
    ),
    RunCheck(
        name=disk_writes.ACKNOWLEDGED_IS_DURABLE,
        relations=("operations", "writes"),
        find=disk_writes.acknowledged_is_durable,
        models=TOPICS,
    ),
    RunCheck(
        name=kept.TOPICS_KEPT,
        relations=("operations", "kept"),
        find=kept.topics_kept,
        models=TOPICS,
    ),
    RunCheck(
        name=kept.REGISTRATIONS_KEPT,
        relations=("operations", "kept"),
        find=kept.registrations_kept,
        models=REGISTRATION,
    ),
    RunCheck(
        name=acknowledged.REGISTRATIONS_IN_LOG,
        relations=("operations", "committed"),
        find=acknowledged.registrations_in_log,
        models=REGISTRATION,
    ),
)
