"""The name of a system that a Compose file describes: compose:FILE#CLIENT.

It imports no system, so that commands can make the name before anything else is loaded.
"""

from pathlib import Path
from typing import Final

from kraftproof.cluster.plugin import PluginLoadError
from kraftproof.cluster.plugin_file import absolute

PREFIX: Final = "compose:"
CLIENT: Final = "#"


def is_compose(name: str) -> bool:
    """Return whether the name of a system means a Compose file."""
    return name.startswith(PREFIX)


def parts(name: str) -> tuple[Path, str | None]:
    """Return the Compose file and the client's path/to/file.py:Class, if one is named."""
    file, mark, client = name.removeprefix(PREFIX).partition(CLIENT)
    return Path(file), client if mark else None


def absolute_system(name: str, client: str | None = None) -> str:
    """Return the name of a system so that it is valid in every directory.

    Args:
        name: The name as a user gives it.
        client: The value of `--client`, if given.

    Raises:
        PluginLoadError: a client is given for a system that has its own clients; one line.
    """
    if not is_compose(name):
        if client is not None:
            raise PluginLoadError(
                f"--client {client}: the system {name} has its own clients; only compose:FILE "
                "takes a client"
            )
        return absolute(name)
    file, named = parts(name)
    chosen = client if client is not None else named
    suffix = "" if chosen is None else CLIENT + absolute(chosen)
    return f"{PREFIX}{file.absolute()}{suffix}"
