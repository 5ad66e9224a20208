"""Collect the raw files of the nodes into the tables `records`, `snapshots`, `trace`, `writes`.

The system under test decodes its own files; the checkers define the schemas. The check itself
writes the tables `operations` and `faults`, since the check reads their JSON lines anyway.
"""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from kraftproof.checkers.history.tables import table_path, write_table
from kraftproof.checkers.sources import NODE_TABLES
from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.system import System
from kraftproof.run.directory import RunDirectory
from kraftproof.run.mishaps import writing

LONGEST_S = 600.0
"""Time limit for a system to decode the files of one table, in seconds."""


def collect(cluster: Cluster, system: System, directory: RunDirectory) -> None:
    """Write the tables of the nodes' files.

    Raises:
        PluginError: the system can't decode its files, or returns invalid rows.
        RunFileError: a table can't be written, for example on a full disk.
    """
    culprit = plugin("system", system.name, system)
    for table in NODE_TABLES:
        try:
            with blamed(culprit, f"rows({table!r})"), limited(LONGEST_S):
                _collect_one(cluster, system, directory, table)
        except BaseException:
            # A check would accept an incomplete table.
            table_path(directory.tables, table).unlink(missing_ok=True)
            raise


def _collect_one(cluster: Cluster, system: System, directory: RunDirectory, table: str) -> None:
    rows: object = system.rows(cluster, table)
    if rows is None:
        return
    if not isinstance(rows, Iterable):
        culprit = plugin("system", system.name, system)
        raise returned(culprit, f"rows({table!r})", rows, "a list of rows or None")
    with writing(table_path(directory.tables, table)):
        write_table(directory.tables, table, rows)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError inside of a block that takes too long, also in a blocking call.

    The limit uses a signal, which only the main thread receives. In other threads the block has no
    limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _too_late(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError(f"not done within {LONGEST_S:g} s")
