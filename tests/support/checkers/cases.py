"""What random histories are drawn of, and what their truth is: one case a model, or several.

A case is named after its model; what follows a slash tells the cases of one model apart.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel, models
from tests.support.checkers import random_histories as draws
from tests.support.checkers import reference, unique_values
from tests.support.checkers.random_histories import Draw
from tests.support.checkers.reference import Apply
from tests.support.checkers.repeated_lists import draw_repeated_list

CASES: Final[Mapping[str, tuple[Apply, Draw]]] = {
    "append-log": (reference.append_log, draws.draw_log),
    "bank": (reference.bank(allows_negative=False), draws.draw_bank),
    "bank-overdraft": (reference.bank(allows_negative=True), draws.draw_bank),
    "cas-register": (reference.cas_register, draws.draw_cas),
    "cas-register/cas": (reference.cas_register, draws.draw_few_repeated(["read", "cas"])),
    "cas-register/write": (reference.cas_register, draws.draw_few_repeated(["read", "write"])),
    "counter": (reference.counter, draws.draw_counter([1, 2, 5])),
    "counter/signs": (reference.counter, draws.draw_counter([1, -1, 3])),
    "counter/ones": (reference.counter, draws.draw_counter([1])),
    "fencing-lock": (reference.fencing_lock, draws.draw_fencing),
    "kv-append": (reference.kv_append, draws.draw_append),
    "kv-append/pieces": (reference.kv_append, unique_values.draw_pieces),
    "list-append": (reference.list_append, draws.draw_list),
    "list-append/repeated": (reference.list_append, draw_repeated_list),
    "map": (reference.a_map, draws.draw_map),
    "mutex": (reference.mutex, draws.draw_mutex),
    "multi-register": (reference.multi_register(0), draws.draw_txn),
    "multi-register/unique": (reference.multi_register(0), unique_values.draw_transaction),
    "priority-queue": (reference.priority_queue, draws.draw_priorities),
    "priority-queue/repeated": (
        reference.priority_queue,
        draws.draw_container("insert", "delete-min", lambda e: e.index(min(e)), values=3),
    ),
    "queue": (reference.queue, draws.draw_queue),
    "queue/repeated": (reference.queue, draws.draw_repeated),
    "registration": (reference.registration, draws.draw_registration),
    "set": (reference.a_set, draws.draw_elements),
    "set/growing": (reference.a_set, draws.draw_growing_set),
    "stack": (reference.stack, draws.draw_stack),
    "stack/repeated": (
        reference.stack,
        draws.draw_container("push", "pop", lambda elements: -1, values=3),
    ),
    "topics": (reference.topics, draws.draw_topics),
    "versioned-register": (reference.versioned_register, draws.draw_versioned),
}
LENIENT: Final = frozenset({"topics", "registration"})
"""Ids and epochs that nobody was told are left open by these models: they may admit more."""


def model_of(case: str) -> str:
    """The name of the case's model."""
    return case.partition("/")[0]


def sequential(case: str) -> SequentialModel:
    """The case's model."""
    model = models()[model_of(case)]
    assert isinstance(model, SequentialModel)
    return model


def drawn(
    random: Random, case: str, sizes: Sequence[int], processes: Sequence[int] = range(2, 5)
) -> list[Operation]:
    """A random history of a case, of one of some sizes."""
    apply, draw = CASES[case]
    return draws.random_history(random, draw, apply, random.choice(sizes), random.choice(processes))
