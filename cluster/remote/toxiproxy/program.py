"""The program of Toxiproxy: on PATH, or built by Go into the user's cache."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.images.folders import cache_base, owned_folder

MODULE: Final = "github.com/Shopify/toxiproxy/v2/cmd/server"
VERSION: Final = "v2.12.0"
NAME: Final = "toxiproxy-server"
BUILD_S: Final = 600
HELP_S: Final = 10.0
"""Longest time in which a program says how it is used."""
OPTIONS: Final = ("-host", "-port", "-seed")
"""The options that a link needs."""
ADVICE: Final = "remove it from PATH, or put the toxiproxy-server of a release there"


def cached() -> Path:
    """Return the path of the program in the user's cache, whether or not the program is there."""
    return cache_base() / "go" / f"toxiproxy-{VERSION}" / NAME


def missing() -> str | None:
    """Return the reason why this machine can't have the program, or None."""
    found = shutil.which(NAME)
    if found is not None:
        return _unfit(found)
    if cached().is_file() or shutil.which("go"):
        return None
    return f"needs {NAME} on PATH, or Go to build it"


def program() -> str:
    """Return the path of the program, built if missing.

    Raises:
        ClusterError: the program on PATH is another one, or Go is missing or fails; one line.
    """
    reason = missing()
    if reason is not None:
        raise ClusterError(f"toxiproxy: {reason}")
    found = shutil.which(NAME)
    if found is not None:
        return found
    path = cached()
    if path.is_file():
        return str(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with owned_folder("build", path.parent.parent) as temporary:
        _install(temporary)
        (Path(temporary) / "server").replace(path)
    return str(path)


@cache
def _unfit(path: str) -> str | None:
    """Return why a program on PATH can't serve a link, or None."""
    try:
        done = subprocess.run(
            (path, "-help"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=HELP_S,
        )
    except subprocess.TimeoutExpired:
        return f"{path} gives no answer to -help in {HELP_S:g} s; {ADVICE}"
    except OSError as error:
        return f"{path} can't be run: {error.strerror}; {ADVICE}"
    lacking = [option for option in OPTIONS if option.encode() not in done.stdout]
    return f"{path} is no Toxiproxy 2: its -help lacks {lacking[0]}; {ADVICE}" if lacking else None


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
