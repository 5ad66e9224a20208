"""Build images for systems under test: from packages, a program or a Dockerfile."""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import build, exists, fingerprint
from kraftproof.images.errors import ImageError
from kraftproof.images.folders import owned_folder
from kraftproof.images.sources import IMAGES

REPOSITORY = "kraftproof/system"


def packages_image(
    client: docker.DockerClient, packages: tuple[str, ...], progress: Callable[[str], None]
) -> str:
    """Return the tag of an image with Debian packages, built if missing.

    Raises:
        ImageError: the engine can't install a package.
    """
    recipe = IMAGES / "packages"
    tag = _tag(recipe, base_tag(), *packages)
    if exists(client, tag):
        progress(f"image {tag}: present")
        return tag
    base = ensure_base(client, progress)
    progress(f"image {tag}: installing {', '.join(packages)}")
    build(client, recipe, tag, {"BASE": base, "PACKAGES": " ".join(packages)})
    return tag


def program_image(
    client: docker.DockerClient, program: Path, progress: Callable[[str], None]
) -> str:
    """Return the tag of an image with a program in /usr/local/bin, built if missing.

    Raises:
        ImageError: the build failed.
    """
    recipe = IMAGES / "program"
    tag = f"{REPOSITORY}:{fingerprint(program.parent, [program], _tag(recipe, base_tag()))}"
    if exists(client, tag):
        progress(f"image {tag}: present")
        return tag
    base = ensure_base(client, progress)
    progress(f"image {tag}: building")
    with owned_folder("image") as folder:
        context = Path(folder) / "context"
        shutil.copytree(recipe, context)
        (context / "program").mkdir()
        shutil.copy2(program, context / "program" / program.name)
        build(client, context, tag, {"BASE": base})
    return tag


def dockerfile_image(
    client: docker.DockerClient,
    dockerfile: Path,
    progress: Callable[[str], None],
    *,
    context: Path | None = None,
    arguments: Mapping[str, str] | None = None,
    target: str | None = None,
) -> str:
    """Return the tag of the image of a Dockerfile, built if a file of its folder has changed.

    Args:
        client: The engine's client.
        dockerfile: The Dockerfile.
        progress: Called with a line before a long step.
        context: The folder of the build; by default the folder of the Dockerfile.
        arguments: The build arguments.
        target: The stage to build; None for the last stage.

    Raises:
        ImageError: the file is missing, or a step failed.
    """
    if not dockerfile.is_file():
        raise ImageError(f"{dockerfile}: there is no such Dockerfile")
    folder = context or dockerfile.parent
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    given = arguments or {}
    words = [f"{name}={given[name]}" for name in sorted(given)] + ([target] if target else [])
    name = os.path.relpath(dockerfile, folder)
    tag = f"{REPOSITORY}:{fingerprint(folder, files, name, *words)}"
    if exists(client, tag):
        progress(f"image {tag}: present")
        return tag
    progress(f"image {tag}: building {dockerfile}")
    build(client, folder, tag, given, name, target)
    return tag


def _tag(recipe: Path, *words: str) -> str:
    return f"{REPOSITORY}:{fingerprint(recipe, [recipe / 'Dockerfile'], *words)}"
