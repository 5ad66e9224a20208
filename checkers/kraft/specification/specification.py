"""Judge a request of a controller: the image before, the request, the records, the answer.

`Specification` is handed to whoever sees a cluster's requests and records: the simulator, which
calls it after each commit, or the check of a live run.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.conversion import row_of
from kraftproof.checkers.kraft.specification.errors import Code
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import EMPTY_IMAGE, Image
from kraftproof.checkers.kraft.specification.own_records import wrong_own_records
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rules import RULES, Case

SAYS_NOTHING: Final = frozenset({Code.NOT_CONTROLLER, Code.REQUEST_TIMED_OUT})
"""Codes of an answer that tells nothing about the metadata."""


class Specification:
    """The specification of one cluster's controller."""

    empty: Image = EMPTY_IMAGE

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def rows(self, messages: Iterable[object]) -> tuple[Row, ...]:
        """Return requests, answers or records as rows, which the other methods take."""
        return tuple(map(row_of, messages))

    def after(self, image: Image, written: Sequence[Row]) -> Image:
        """Return the image after records.

        Raises:
            ContradictionError: a record contradicts the image before it.
        """
        return fold(image, written)

    def wrong_records(
        self, image: Image, offset: int, request: Row | None, written: Sequence[Row]
    ) -> str | None:
        """Return why a batch is no right result of a request, or None.

        Args:
            image: The image before the batch.
            offset: The offset of the batch.
            request: The request, or None for records of the controller's own.
            written: The records of the batch, which contradict nothing in the image.
        """
        if request is None:
            return wrong_own_records(image, written)
        rules = RULES.get(type(request))
        if rules is None:
            return f"a {type(request).__name__} has written records" if written else None
        return rules.wrong_records(
            Case(image=image, facts=self._facts, offset=offset, request=request, written=written)
        )

    def wrong_answer(
        self, image: Image, request: Row, written: Sequence[Row], answer: Row
    ) -> str | None:
        """Return why an answer is wrong, or None; `wrong_records` has no complaint.

        Args:
            image: The image before the request.
            request: The request.
            written: The records of the request; empty if it wrote none.
            answer: The answer.
        """
        rules = RULES.get(type(request))
        if rules is None or not isinstance(answer, rules.answer):
            return f"{type(answer).__name__} answers {type(request).__name__}"
        return rules.wrong_answer(
            Case(image=image, facts=self._facts, request=request, written=written, answer=answer)
        )
