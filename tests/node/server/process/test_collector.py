"""The collector's pauses do not grow with what is alive. In a process of its own."""

import subprocess
import sys

PROGRAM = """
import gc
from kraftproof.node.server.garbage_collection import keep_collections_short
alive = [[number] for number in range(10_000)]
keep_collections_short()
assert gc.get_freeze_count() > 10_000, gc.get_freeze_count()
more = [[number] for number in range(50_000)]
gc.collect()
assert gc.get_freeze_count() > 60_000, gc.get_freeze_count()
assert len(gc.get_objects(generation=2)) < 1_000, len(gc.get_objects(generation=2))
"""


def test_what_survives_a_full_collection_is_exempt_from_the_next() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


LONGEST = """
import gc
from kraftproof.node.server.garbage_collection import MOST_YOUNG, keep_collections_short
looked_at = []
def note(phase, info):
    if phase == "start" and info["generation"] == 2:
        looked_at.append(len(gc.get_objects()))
gc.callbacks.append(note)
keep_collections_short()
looked_at.clear()
alive = [[number] for number in range(300_000)]
assert looked_at, "no full collection"
assert max(looked_at) < 2 * MOST_YOUNG, looked_at
"""


def test_full_collections_come_before_there_is_much_to_look_at() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LONGEST], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


ENDED = """
import gc, weakref
from kraftproof.node.server.garbage_collection import keep_collections_short

class Connection:
    def __init__(self):
        self.itself = self

keep_collections_short()
ended = []
for _ in range(200):
    connection = Connection()
    ended.append(weakref.ref(connection))
    gc.collect()  # while the connection is open
    del connection
gc.collect()
assert not any(each() for each in ended), sum(each() is not None for each in ended)
"""


def test_connections_that_end_after_a_full_collection_are_freed() -> None:
    """A million hostile frames left 150 MB of ended connections behind."""
    done = subprocess.run(
        [sys.executable, "-c", ENDED], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
