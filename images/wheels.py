"""Download the node's third-party wheels for another Python, at the versions of the lock.

The host downloads, since pip has no network inside a build. Names, versions and (in a checkout)
hashes are those of requirements.lock.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from kraftproof.images.errors import ImageError
from kraftproof.images.sources import PACKAGE

PACKAGES = (
    "asn1crypto",
    "crc32c",
    "immutables",
    "msgspec",
    "prometheus-client",
    "scramp",
    "typing-extensions",
)
PYTHON_VERSION = "3.13"
DOWNLOAD_SECONDS = 300


def requirements(packages: Sequence[str] = PACKAGES) -> str:
    """Return the pinned requirements from the lock; outside a checkout, the installed versions."""
    lock = PACKAGE.parent / "requirements.lock"
    if not lock.is_file():
        return "".join(f"{name}=={version(name)}\n" for name in packages)
    text = lock.read_text(encoding="utf-8")
    return "".join(locked(text, name) for name in packages)


def locked(lock: str, name: str) -> str:
    """Return a package's blocks of a lock without comments: versions by Python, and hashes."""
    found = re.findall(rf"^{name}==(?:.*\\\n)+.*\n", lock, re.MULTILINE)
    if not found:
        raise ImageError(f"requirements.lock names no {name}, which the image needs")
    return "".join(found)


def download(
    target: Path,
    architecture: str,
    packages: Sequence[str] = PACKAGES,
    from_source: Sequence[str] = (),
    python: str = PYTHON_VERSION,
) -> None:
    """Unpack the wheels into `target`.

    Args:
        target: A new folder for the image's PYTHONPATH.
        architecture: The engine's machine name, such as x86_64.
        packages: Names in the lock.
        from_source: Packages built on the host: pure Python without a wheel.
        python: Version of the importing Python, such as 3.13.
    """
    pins = target.parent / "pins.txt"
    text = requirements(packages)
    pins.write_text(text, encoding="utf-8")
    checked = ["--require-hashes"] if "--hash=" in text else []
    command = [*installer(architecture), "--quiet", "--no-deps", "--only-binary", ":all:", *checked]
    command += [word for name in from_source for word in ("--no-binary", name)]
    command += ["--python-version", python, "--target", str(target), "-r", str(pins)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=DOWNLOAD_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise ImageError(f"downloading wheels took more than {DOWNLOAD_SECONDS} s") from error
    finally:
        pins.unlink(missing_ok=True)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ImageError(
            f"the image's wheels could not be fetched: {said[-1] if said else 'no reason'}"
        )


def installer(architecture: str) -> list[str]:
    """Return the command that installs for another machine: uv if installed, otherwise pip.

    Raises:
        ImageError: this Python has neither.
    """
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.is_file() else shutil.which("uv")
    if uv is not None:
        platform = f"{architecture}-manylinux_2_28"
        return [uv, "pip", "install", "--python", sys.executable, "--python-platform", platform]
    if find_spec("pip") is None:
        raise ImageError("pip or uv is needed to fetch the image's wheels: 'pip install uv'")
    tags = [
        f"{tag}_{architecture}" for tag in ("manylinux_2_28", "manylinux_2_17", "manylinux2014")
    ]
    platforms = [word for tag in tags for word in ("--platform", tag)]
    return [sys.executable, "-m", "pip", "install", "--implementation", "cp", *platforms]
