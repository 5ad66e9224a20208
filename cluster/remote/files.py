"""Files that a node may read at any time: it finds the old one or the new one, whole."""

from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in place of an older one; its folder is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(data)
    temporary.replace(path)
