"""Build the image of a Kafka node: our base with a Java runtime, and the jars of one release."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import docker

from kraftproof.images.base import base_tag, ensure_base
from kraftproof.images.context import build, connect, exists, fingerprint
from kraftproof.images.folders import owned_folder
from kraftproof.images.kafka.jars import ensure_jars
from kraftproof.images.sources import IMAGES

REPOSITORY: Final = "kraftproof/apache-kafka"
DOCKERFILE: Final = IMAGES / "kafka" / "Dockerfile"


def ensure_kafka_image(
    version: str,
    client: docker.DockerClient | None = None,
    progress: Callable[[str], None] = print,
) -> str:
    """Return the tag of a release's image, built if the release or the recipe is new.

    Args:
        version: The release.
        client: An engine's client; by default the environment's engine.
        progress: Called with a line for each long step.

    Raises:
        ImageError: the jars or the build failed; the text is one line.
    """
    engine = connect(client)
    jars = ensure_jars(progress, version)
    names = sorted(path.name for path in jars.glob("*.jar"))
    tag = f"{REPOSITORY}:{version}-{fingerprint(IMAGES, [DOCKERFILE], base_tag(), *names)}"
    if exists(engine, tag):
        return tag
    base = ensure_base(engine, progress)
    progress(f"image {tag}: building (Java and the jars: half a minute)")
    with owned_folder("kafka", jars.parent) as folder:
        context = Path(folder)
        shutil.copy2(DOCKERFILE, context)
        shutil.copytree(jars, context / "jars", copy_function=os.link)  # of one file system
        build(engine, context, tag, {"BASE": base})
    return tag
