"""A service of a Compose file, as far as a node can have its settings."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

CONDITIONS: Final = {"service_started": False, "service_healthy": True}
"""Conditions of depends_on, and whether each needs a passed health check."""


class Build(Struct, frozen=True, kw_only=True):
    """How the image of a service is built.

    Attributes:
        context: The folder, an absolute path.
        dockerfile: The Dockerfile, below the folder.
        arguments: The build arguments.
        target: The stage to build; None for the last stage.
    """

    context: str
    dockerfile: str = "Dockerfile"
    arguments: Mapping[str, str] = {}
    target: str | None = None


class Volume(Struct, frozen=True, kw_only=True):
    """A directory or file of a container that lies outside of it.

    Attributes:
        target: The path in the container.
        source: An absolute path of this machine, or the name of a volume; None for a volume that
            has no name.
        is_named: Whether the source is the name of a volume, which services share.
        is_read_only: Whether the container may not write there.
    """

    target: str
    source: str | None = None
    is_named: bool = False
    is_read_only: bool = False


class Service(Struct, frozen=True, kw_only=True):
    """A service: the nodes of one role.

    Attributes:
        name: Its name, the role of its nodes and their first host name.
        count: The number of its nodes.
        image: The name of the image; None for an image that is built.
        build: How the image is built, if it is.
        command, entrypoint: Those in place of the image's; None for the image's own.
        environment: The variables of its environment.
        ports: The ports on which it listens, in the order of the file.
        volumes: Its volumes.
        tmpfs: Paths with a file system in memory.
        after: The services that start before, and whether each must be healthy first.
        aliases: Further host names.
        settings: Keyword arguments of the Docker SDK for the rest, such as `user`.
        left_out: Settings that have no meaning for a node under test.
    """

    name: str
    count: int
    image: str | None
    build: Build | None
    command: list[str] | None
    entrypoint: list[str] | None
    environment: Mapping[str, str]
    ports: tuple[int, ...]
    volumes: tuple[Volume, ...]
    tmpfs: tuple[str, ...]
    after: Mapping[str, bool]
    aliases: tuple[str, ...]
    settings: Mapping[str, Any]
    left_out: tuple[str, ...]

    @property
    def check(self) -> list[str] | None:
        """Return the words of the health check; None for the check of the image, if any."""
        found: list[str] | None = self.settings.get("healthcheck", {}).get("test")
        return found
