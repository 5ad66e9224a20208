"""The program of Toxiproxy: on PATH, or built by Go into the user's cache."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError

MODULE: Final = "github.com/Shopify/toxiproxy/v2/cmd/server"
VERSION: Final = "v2.12.0"
NAME: Final = "toxiproxy-server"
BUILD_S: Final = 600


def cached() -> Path:
    """Return the path of the program in the user's cache, whether or not the program is there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "kraftproof" / "go" / f"toxiproxy-{VERSION}" / NAME


def missing() -> str | None:
    """Return the reason why this machine can't have the program, or None."""
    if cached().is_file() or shutil.which(NAME) or shutil.which("go"):
        return None
    return f"needs {NAME} on PATH, or Go to build it"


def program() -> str:
    """Return the path of the program, built if missing.

    Raises:
        ClusterError: Go is missing or fails; one line.
    """
    found = shutil.which(NAME)
    if found is not None:
        return found
    path = cached()
    if path.is_file():
        return str(path)
    reason = missing()
    if reason is not None:
        raise ClusterError(f"toxiproxy: {reason}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=path.parent) as temporary:
        _install(temporary)
        (Path(temporary) / "server").replace(path)
    return str(path)


def _install(directory: str) -> None:
    try:
        done = subprocess.run(
            ("go", "install", f"{MODULE}@{VERSION}"),
            env={**os.environ, "GOBIN": directory, "CGO_ENABLED": "0"},
            capture_output=True,
            text=True,
            check=False,
            timeout=BUILD_S,
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"toxiproxy {VERSION}: Go took more than {BUILD_S} s") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ClusterError(f"toxiproxy {VERSION}: Go can't build it: {said}")
