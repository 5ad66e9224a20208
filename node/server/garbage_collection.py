"""Short pauses of Python's cyclic collector, however large the image is.

A full collection looks at every object that is alive: with some 10,000 partitions that takes
longer than a step of the core may. So what has survived one is not looked at again; reference
counts still free it. Simplification: a cycle that becomes garbage after it has survived a full
collection is never freed; the node has no such cycles but those of connections that fail.
"""

import gc
from collections.abc import Mapping

OLDEST_GENERATION = 2
MOST_YOUNG = 20_000
"""About how many new objects a full collection looks at: some 8 ms of work."""


def keep_collections_short() -> None:
    """Exempt all objects that are alive from collections, now and after each full one."""
    gc.collect()
    gc.freeze()
    youngest, middle, _ = gc.get_threshold()
    gc.set_threshold(youngest, middle, MOST_YOUNG // (youngest * middle))
    gc.callbacks.append(_exempt_survivors)


def _exempt_survivors(phase: str, info: Mapping[str, int]) -> None:
    if phase == "stop" and info["generation"] == OLDEST_GENERATION:
        gc.freeze()
