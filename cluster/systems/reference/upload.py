"""Software of a reference node for a bare host: our sources, and the wheels that they import."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.systems.deployment import Platform

SOURCE: Final = "source"
WHEELS: Final = "wheels"


def upload(platform: Platform, folder: Path, progress: Callable[[str], None]) -> None:
    """Fill a folder with the sources, and with wheels for the host's Python.

    Raises:
        ClusterError: a wheel can't be had; one line.
    """
    from kraftproof.images.errors import ImageError
    from kraftproof.images.sources import NODE, copy_files, source_files
    from kraftproof.images.wheels import download

    progress(f"software of the nodes: for Python {platform.python} on {platform.processor}")
    copy_files(source_files(*NODE), folder / SOURCE)
    try:
        download(folder / WHEELS, platform.processor, python=platform.python)
    except ImageError as error:
        raise ClusterError(str(error)) from error


def imports(folder: Path) -> dict[str, str]:
    """Return the variables that make the host's Python find the software."""
    return {"PYTHONPATH": f"{folder / SOURCE}:{folder / WHEELS}", "PYTHONUNBUFFERED": "1"}
