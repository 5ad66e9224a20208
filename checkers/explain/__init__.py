"""Explains an invalid verdict: the operation, a linearization up to it, a minimal sub-history.

See `checkers.explain.reduction.reductions` for what makes a sub-history a proof.
"""

from kraftproof.checkers.explain.explain import DEFAULT_SECONDS, explain
from kraftproof.checkers.explain.explanation import Explanation

__all__ = ["DEFAULT_SECONDS", "Explanation", "explain"]
