"""Checks recorded histories: models, engines, the nodes' logs, inline or on Spark.

The package reads files and returns verdicts; it starts no cluster and imports no other package.
Only `checkers.spark` imports pyspark, and only when the Spark engine is asked for.

The names of this package load `checkers.checking` at their first use: commands that check nothing
start without pyarrow and numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftproof.checkers.checking import (
        CheckerInputError,
        Engine,
        Limits,
        Report,
        RunVerdict,
        check_paths,
        check_run,
    )


def __getattr__(name: str) -> object:
    """Return a name of `checkers.checking`."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kraftproof.checkers import checking

    return getattr(checking, name)


__all__ = [
    "CheckerInputError",
    "Engine",
    "Limits",
    "Report",
    "RunVerdict",
    "check_paths",
    "check_run",
]
