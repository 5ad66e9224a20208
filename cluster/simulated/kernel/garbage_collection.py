"""Settings of Python's garbage collector for the length of a simulated run.

A run makes many small objects that live on in logs; scanning them again and again doubled its
time. Not: collecting less, only more seldom.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLD = 100_000


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Leave out what is there already and collect seldom; restored afterwards.

    Within itself it only collects what is left of the runs before, so that a search of many runs
    pays once for what was there before them all.
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
