"""The registry of operators: each edits a site in the way of an ordinary mistake."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from kraftproof.mutants.generator import arguments, expressions, names, statements
from kraftproof.mutants.generator.site import Site
from kraftproof.mutants.generator.source import Replacement

Operator = Callable[[Site], Iterator[Replacement]]
OPERATORS: Final[Mapping[str, Operator]] = {
    "comparison": expressions.comparison,
    "boundary": expressions.boundary,
    "negated-condition": expressions.negated_condition,
    "swapped-branches": expressions.swapped_branches,
    "arithmetic": expressions.arithmetic,
    "constant": expressions.constant,
    "off-by-one": expressions.off_by_one,
    "dropped-statement": statements.dropped_statement,
    "early-return": statements.early_return,
    "swapped-arguments": arguments.swapped_arguments,
    "missing-field": arguments.missing_field,
    "dropped-element": arguments.dropped_element,
    "wrong-variable": names.wrong_variable,
}
"""Operators by name; sampling takes the operators in turn, in this order."""
