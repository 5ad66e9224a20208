"""What random small histories begin with, and what a sound reduction of that leaves."""

from dataclasses import replace
from random import Random

from kraftproof.checkers.explain.reduction import reductions
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut, ReducibleModel
from tests.support.checkers.cases import drawn, sequential

KINDS = ["drop", "optional", "weaken", "weaken all", "window", "window of few", "tidy", "project"]
KINDS += ["count", "help", "add up", "balance"]


def beginning(random: Random, name: str) -> tuple[list[Operation], SubHistory]:
    """A random history of a case, and what it begins with: four events at least."""
    operations = drawn(random, name, range(3, 9))
    end = random.randrange(4, 2 * len(operations) + 4)
    return operations, reductions.prefix(sequential(name), operations, end)


def reduced_once(random: Random, model: SequentialModel, sub: SubHistory) -> SubHistory | None:
    """Some sound reduction of some calls; None where it does not apply."""
    entries = list(enumerate(sub.entries))
    some = [place for place, _ in entries if random.random() < 0.4]
    pure = [place for place in some if model.is_pure(sub.entries[place].call)]
    weak = [n for n in some if reductions.weaker_calls(model, sub.entries[n].call)]
    events = [one.operation.invoke_index for one in sub.entries]
    kind = random.choice(KINDS)
    since = max(random.randrange(max(events, default=0) + 2), sub.since or 0)
    required = [sub.entries[place] for place in some]
    makes = {
        "drop": lambda: reductions.dropped(model, sub, pure),
        "optional": lambda: reductions.optional(model, sub, some),
        "weaken": lambda: reductions.weakened(model, sub, weak),
        "weaken all": lambda: reductions.weakest(model, sub),
        "window": lambda: reductions.window(model, sub, since),
        "window of few": lambda: reductions.window(model, sub, since, required),
        "tidy": lambda: reductions.tidied(model, sub),
        "count": lambda: reductions.counted(model, sub),
        "help": lambda: replace(sub, entries=reductions.helpful(model, sub.entries)),
        "add up": lambda: reductions.added_up(model, sub),
        "balance": lambda: reductions.balanced(model, sub, random.choice([0, 3])),
    }
    if kind in makes:
        return makes[kind]()
    if not isinstance(model, ReducibleModel) or sub.since is not None:
        return None
    values = sorted({v for one in sub.entries for v in model.values(one.call)}, key=repr)
    some = frozenset(v for v in values if random.random() < 0.4)
    return reductions.projected(model, sub, random.choice([some, AllBut(some)]))
