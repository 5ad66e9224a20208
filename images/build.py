"""The image of the reference node, named after its content.

Base, wheels and our own code are three steps, and a changed line of node/ repeats the last only.
The tag is a hash of all that goes in, so a tag that exists is up to date, and concurrent runs of
different checkouts do not disturb each other. Who starts a container says what it runs.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import (
    IMAGES,
    build,
    connect,
    copy_files,
    exists,
    fingerprint,
    source_files,
)
from kraftproof.images.wheels import download, requirements

REPOSITORY = "kraftproof/reference"
OURS = ("node", "mutants")
LIBFAKETIME_PATH = "/opt/kraftproof/libfaketimeMT.so.1"
SOURCE_PATH = "/opt/kraftproof/source"


def ensure_reference_image(
    client: docker.DockerClient | None = None, progress: Callable[[str], None] = print
) -> str:
    """The tag of the reference node's image, built now if the sources have changed.

    Args:
        client: An engine's client; by default the environment's engine.
        progress: Gets a line for each step that takes time.

    Raises:
        ImageError: It could not be built; one line says why.
    """
    engine = connect(client)
    with tempfile.TemporaryDirectory(prefix="kraftproof-image-") as folder:
        context = Path(folder)
        tag = snapshot(context)
        if exists(engine, tag):
            progress(f"image {tag}: present")
            return tag
        base = ensure_base(engine, progress)
        progress(f"image {tag}: building")
        # uv's cache makes all but the first time quick, and equal wheels keep the engine's layer.
        download(context / "wheels", str(engine.info()["Architecture"]))
        build(engine, context, tag, {"BASE": base})
    return tag


def snapshot(context: Path) -> str:
    """Copy recipe and sources into a build context, and name the copy.

    The copy is hashed, not the sources: somebody may be editing them, and a tag must never stand
    for content other than its own.
    """
    shutil.copytree(IMAGES / "reference", context, dirs_exist_ok=True)
    copy_files(source_files(*OURS), context / "source")
    files = sorted(path for path in context.rglob("*") if path.is_file())
    return f"{REPOSITORY}:{fingerprint(context, files, base_tag(), requirements())}"
