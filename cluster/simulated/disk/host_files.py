"""Copies of simulated files as files of the host, for the checks of a run's files."""

from pathlib import Path

from kraftproof.cluster.simulated.disk.inodes import SimulatedDirectory, SimulatedFile


def write_tree(source: SimulatedDirectory, target: Path) -> None:
    """Write a directory of a simulated disk into an existing directory of the host."""
    for name in sorted(source.entries):
        entry = source.entries[name]
        if isinstance(entry, SimulatedFile):
            (target / name).write_bytes(bytes(entry.data))
        else:
            (target / name).mkdir(exist_ok=True)
            write_tree(entry, target / name)
