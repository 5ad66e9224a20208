"""Collects the nodes' raw files into the neutral tables `records`, `snapshots` and `trace`.

The system decodes its own files; the schemas are the checkers'. The tables `operations` and
`faults` are written by the check itself, which reads the JSON lines anyway.
"""

from checkers.tables import write_table
from cluster.protocol import Cluster
from cluster.systems.system import System
from kraftproof.run_directory import RunDirectory

TABLES = ("records", "snapshots", "trace")


def collect(cluster: Cluster, system: System, directory: RunDirectory) -> None:
    """Write the tables that come from nodes."""
    for table in TABLES:
        rows = system.rows(cluster, table)
        if rows is not None:
            write_table(directory.tables, table, rows)
