"""The container of a node of a service, as testcontainers has it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kraftproof.cluster.systems.compose.service import Build, Service, Volume

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

VOLUMES: Final = "volumes"
"""Folder of a run's volumes, in the directory of the run or of a node."""
_WRITABLE: Final = 0o777


def container_of(service: Service, image: str, run: Path, node: Path) -> "DockerContainer":
    """Return the container of a node, not yet started.

    Args:
        service: The service of the node.
        image: The name of its image.
        run: The directory of the run, which has the volumes with a name.
        node: The directory of the node, which has its other volumes.
    """
    from testcontainers.core.container import DockerContainer

    settings: dict[str, Any] = dict(service.settings)
    if service.entrypoint is not None:
        settings["entrypoint"] = service.entrypoint
    if service.tmpfs:
        parts = (one.partition(":") for one in service.tmpfs)
        settings["tmpfs"] = {path: options for path, _, options in parts}
    settings["mounts"] = [
        _mount(volume, run if volume.is_named else node, place)
        for place, volume in enumerate(service.volumes)
    ]
    container = DockerContainer(image).with_envs(**service.environment)
    if service.command is not None:
        container = container.with_command(service.command)
    return container.with_kwargs(**settings)


def built(build: Build, progress: Callable[[str], None]) -> str:
    """Return the tag of the image of a service that is built.

    Raises:
        ImageError: no engine answers, or a step failed; one line.
    """
    from kraftproof.images.context import connect
    from kraftproof.images.systems import dockerfile_image

    return dockerfile_image(
        connect(None),
        Path(build.context) / build.dockerfile,
        progress,
        context=Path(build.context),
        arguments=build.arguments,
        target=build.target,
    )


def has_health_check(image: str) -> bool | None:
    """Return whether an image has a health check; None if the engine does not have the image.

    Raises:
        ImageError: no engine answers; one line.
    """
    from docker.errors import APIError, ImageNotFound

    from kraftproof.images.context import connect

    try:
        found = connect(None).images.get(image)
    except (ImageNotFound, APIError):
        return None
    check = found.attrs["Config"].get("Healthcheck") or {}
    return bool(check.get("Test", ["NONE"]) != ["NONE"])


def _mount(volume: Volume, directory: Path, place: int) -> Any:  # noqa: ANN401 - of the SDK
    from docker.types import Mount

    source = volume.source
    if source is None or volume.is_named:
        folder = directory / VOLUMES / (source or str(place))
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(_WRITABLE)  # the container may run as any user
        source = str(folder)
    return Mount(target=volume.target, source=source, type="bind", read_only=volume.is_read_only)
