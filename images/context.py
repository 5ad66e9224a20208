"""Prepare build contexts, compute fingerprints, and run builds.

A thin layer over the engine's build call, with small contexts and errors of one line. The engine
caches layers.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import docker
from docker.api.build import process_dockerfile
from docker.errors import APIError, BuildError, DockerException, ImageNotFound
from docker.utils.build import tar

from kraftproof.images.errors import ImageError

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Codes with which the engine colours the errors of a step."""


def fingerprint(root: Path, files: Iterable[Path], *words: str) -> str:
    """Return a short hash of the files (content and path below `root`) and of the words."""
    digest = hashlib.sha256()
    for word in words:
        digest.update(f"{len(word)}:{word}".encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)}:{len(content)}:".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def connect(client: docker.DockerClient | None) -> docker.DockerClient:
    """Return the given client, or a client of the environment's engine."""
    if client is not None:
        return client
    try:
        engine = docker.from_env(timeout=60)
        engine.ping()
    except DockerException as error:
        raise ImageError("no Docker engine answers: start one, or run 'make docker'") from error
    return engine


def exists(client: docker.DockerClient, tag: str) -> bool:
    """Return whether the engine has the image."""
    try:
        client.images.get(tag)
    except ImageNotFound:
        return False
    return True


def build(
    client: docker.DockerClient,
    context: Path,
    tag: str,
    arguments: Mapping[str, str],
    dockerfile: str = "Dockerfile",
    target: str | None = None,
) -> None:
    """Build a Dockerfile of the folder as an image with the label of Kraftproof.

    Raises:
        ImageError: a step failed; the text has the last output of the step.
    """
    try:
        with _packed(context, dockerfile) as (packed, name):
            client.images.build(
                fileobj=packed,
                custom_context=True,
                dockerfile=name,
                tag=tag,
                buildargs=dict(arguments),
                target=target or "",
                labels={"kraftproof": "1"},
                rm=True,
                forcerm=True,
            )
    except BuildError as error:
        raise ImageError(f"building {tag} failed: {last_line(error)}") from error
    except APIError as error:
        raise ImageError(f"building {tag} failed: {error.explanation or error}") from error


@contextmanager
def _packed(context: Path, dockerfile: str) -> Iterator[tuple[IO[bytes], str]]:
    """Yield a folder as the archive for the engine, and the name of the Dockerfile within.

    The archive has no name in the file system: a process killed amid a build leaves no file behind.
    The archive of the client library has a name.
    """
    ignoring = context / ".dockerignore"
    text = ignoring.read_text(encoding="utf-8") if ignoring.exists() else ""
    lines = (line.strip() for line in text.splitlines())
    ignored = [line for line in lines if line and not line.startswith("#")]
    named = process_dockerfile(dockerfile, str(context))
    with tempfile.TemporaryFile() as packed:
        tar(str(context), exclude=ignored, dockerfile=named, fileobj=packed)
        yield packed, named[0]


def last_line(error: BuildError) -> str:
    """Return the build's last output before the engine's own summary."""
    # The engine may cut a line into several streams.
    streams = "".join(str(entry["stream"]) for entry in error.build_log if "stream" in entry)
    spoken = [line.strip() for line in COLOUR.sub("", streams).splitlines()]
    said = [line for line in spoken if line and not line.startswith("Removing intermediate")]
    return f"{error.msg} (last output: {said[-1]})" if said else str(error.msg)
