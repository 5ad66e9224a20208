"""The comparisons of a run, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.catalogues.brokers import BROKERS
from kraftproof.cluster.simulated.differential.catalogues.controllers import CONTROLLERS
from kraftproof.cluster.simulated.differential.catalogues.formats import FORMATS
from kraftproof.cluster.simulated.differential.catalogues.properties import PROPERTIES
from kraftproof.cluster.simulated.differential.part import CONTROLLER, Comparison
from kraftproof.cluster.simulated.differential.rulings.decisions import decisions_with
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification

DECISIONS: Final = "DecisionsConform"
DECISIONS_STATEMENT: Final = (
    "A controller decides each request as the specification allows, and the images agree."
)

COMPARISONS: Final = (*FORMATS, *BROKERS, *CONTROLLERS, *PROPERTIES)


def comparisons_with(make_specification: MakeSpecification | None) -> tuple[Comparison, ...]:
    """Return every comparison; only a specification judges the decisions of a controller."""
    if make_specification is None:
        return COMPARISONS
    compare = decisions_with(make_specification)
    return (*COMPARISONS, Comparison(DECISIONS, DECISIONS_STATEMENT, CONTROLLER, compare))
