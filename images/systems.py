"""Build images for systems under test: from Debian packages, or around a program."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import IMAGES, build, exists, fingerprint

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
    with tempfile.TemporaryDirectory(prefix="kraftproof-image-") as folder:
        context = Path(folder) / "context"
        shutil.copytree(recipe, context)
        (context / "program").mkdir()
        shutil.copy2(program, context / "program" / program.name)
        build(client, context, tag, {"BASE": base})
    return tag


def _tag(recipe: Path, *words: str) -> str:
    return f"{REPOSITORY}:{fingerprint(recipe, [recipe / 'Dockerfile'], *words)}"
