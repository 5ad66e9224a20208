"""Build the image of the reference node, named after its content.

Base, wheels and sources are three layers, and a changed line of node/ rebuilds only the last layer.
The tag is a hash of the whole content, so an existing tag is up to date, and concurrent runs of
different checkouts do not interfere. The starter of a container chooses the command.
"""

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from kraftproof.images.errors import ImageError
from kraftproof.images.folders import owned_folder

if find_spec("docker") is None:
    raise ImageError("images need the extra docker: pip install 'kraftproof[docker]'")

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import build, connect, exists, fingerprint
from kraftproof.images.sources import IMAGES, NODE, copy_files, source_files
from kraftproof.images.wheels import download, requirements

REPOSITORY = "kraftproof/reference"
LIBFAKETIME_PATH = "/usr/$LIB/faketime/libfaketimeMT.so.1"
"""Path of Debian's libfaketime in each image; the dynamic linker replaces $LIB by the folder of the
machine, such as lib/x86_64-linux-gnu."""
SOURCE_PATH = "/opt/kraftproof/source"


def ensure_reference_image(
    client: docker.DockerClient | None = None, progress: Callable[[str], None] = print
) -> str:
    """Return the tag of the reference node's image, built if the sources have changed.

    Args:
        client: An engine's client; by default the environment's engine.
        progress: Called with a line for each long step.

    Raises:
        ImageError: the build failed; the text is one line.
    """
    engine = connect(client)
    with owned_folder("image") as folder:
        context = Path(folder)
        tag = snapshot(context)
        if exists(engine, tag):
            progress(f"image {tag}: present")
            return tag
        base = ensure_base(engine, progress)
        progress(f"image {tag}: building")
        # uv caches downloads, and identical wheels reuse the engine's layer.
        download(context / "wheels", str(engine.info()["Architecture"]))
        build(engine, context, tag, {"BASE": base})
    return tag


def snapshot(context: Path) -> str:
    """Copy recipe and sources into a build context, and return the tag of the copy.

    The tag is a hash of the copy, since the sources may change at any time, and a tag must only
    name its own content.
    """
    shutil.copytree(IMAGES / "reference", context, dirs_exist_ok=True)
    copy_files(source_files(*NODE), context / "source")
    files = sorted(path for path in context.rglob("*") if path.is_file())
    return f"{REPOSITORY}:{fingerprint(context, files, base_tag(), requirements())}"
