"""Draw mutants from the candidates: the operators take turns, and a seed decides the places."""

from collections.abc import Iterator, Sequence
from random import Random

from kraftproof.mutants.generator.candidates import Candidate, candidates
from kraftproof.mutants.generator.operators import OPERATORS
from kraftproof.mutants.generator.source import Source


def draw(sources: Sequence[Source], seed: int) -> Iterator[Candidate]:
    """Yield candidates in the random order of a seed; each operator has its turn.

    An operator edits a line again only after an edit of each line.
    """
    waiting: dict[str, list[Candidate]] = {name: [] for name in OPERATORS}
    for source in sources:
        for one in candidates(source):
            waiting[one.operator].append(one)
    for name, of_operator in waiting.items():
        waiting[name] = _new_lines_first(of_operator, Random(f"mutants {seed} {name}"))
    queues = [iter(of_operator) for of_operator in waiting.values()]
    while queues:
        for queue in tuple(queues):
            drawn = next((one for one in queue if one.is_valid), None)
            if drawn is None:
                queues.remove(queue)
            else:
                yield drawn


def _new_lines_first(of_operator: list[Candidate], random: Random) -> list[Candidate]:
    random.shuffle(of_operator)
    seen: set[tuple[str, int]] = set()
    again: list[Candidate] = []
    first: list[Candidate] = []
    for one in of_operator:
        place = (one.source.module, one.line)
        (again if place in seen else first).append(one)
        seen.add(place)
    return first + again
