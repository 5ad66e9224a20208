"""Settings of Python's garbage collector during a simulated run.

A run makes many small objects that stay alive in logs; frequent scans of these objects doubled
the run time. The collector still runs during a run, only less often.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLD = 100_000
"""Number of new objects from which the youngest generation is collected."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Freeze the existing objects and collect seldom; restore the settings at the end.

    A nested call only collects the garbage of earlier runs, so a search over many runs freezes
    the objects from before the search once.
    """
    if gc.get_freeze_count():
        gc.collect()
        yield
        return
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(THRESHOLD, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
