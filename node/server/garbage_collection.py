"""Short pauses of Python's cyclic collector, however large the image is.

A full collection looks at every object that is alive: with some 10,000 partitions that takes
longer than a step of the core may. So the survivors are exempted from further collections as soon
as there are many. Reference counts still free them, but a cycle that becomes garbage later stays in
the memory. Failed connections leave such cycles. Survivors that are few are therefore not exempted:
the next full collection frees the connections that have ended meanwhile.
"""

import gc
from collections.abc import Mapping

OLDEST_GENERATION = 2
MOST_YOUNG = 20_000
"""About how many new objects a full collection looks at: some 8 ms of work."""
MOST_OLD = 10_000
"""Number of survivors that are exempted together: some 4 ms of work for each full collection."""


def keep_collections_short() -> None:
    """Exempt all objects that are alive from collections, and many survivors later."""
    gc.collect()
    gc.freeze()
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, MOST_YOUNG // (youngest * middle))
    gc.callbacks.append(_exempt_survivors)


def _exempt_survivors(phase: str, info: Mapping[str, int]) -> None:
    if phase != "stop" or info["generation"] != OLDEST_GENERATION:
        return
    if len(gc.get_objects(generation=OLDEST_GENERATION)) >= MOST_OLD:
        gc.freeze()
