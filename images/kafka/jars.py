"""Keep Kafka's jars in a cache folder: fetched once by Maven, checked on every use.

pom.xml lists the jars, and jars.sha256 has the checksum of each file. Maven's own configuration
determines the repository. The jars are not committed.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kraftproof.images.errors import ImageError

VERSION: Final = "4.3.0"
HERE: Final = Path(__file__).resolve().parent
POM: Final = HERE / "pom.xml"
CHECKSUMS: Final = HERE / "jars.sha256"
FETCH_SECONDS: Final = 600


def ensure_jars(progress: Callable[[str], object]) -> Path:
    """Return the folder of Kafka's jars; fetch missing jars.

    Args:
        progress: Called with a line before a download.

    Raises:
        ImageError: Maven is missing or fails, or a file has a wrong checksum.
    """
    return ensure(cache_folder(), read_checksums(), progress)


def cache_folder() -> Path:
    """Return the folder for the listed jars; another list has another folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    name = hashlib.sha256(CHECKSUMS.read_bytes()).hexdigest()[:12]
    return Path(base) / "kraftproof" / f"kafka-{VERSION}-{name}"


def read_checksums() -> dict[str, str]:
    """Return each jar's SHA-256 by file name."""
    lines = CHECKSUMS.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def ensure(folder: Path, checksums: Mapping[str, str], progress: Callable[[str], object]) -> Path:
    """Return `folder` with the jars of `checksums`; fetch into a temporary folder, then rename."""
    if folder.is_dir():
        if not wrong_files(folder, checksums):
            return folder
        shutil.rmtree(folder)
    progress(f"fetching Kafka {VERSION}'s jars with Maven (56 MB, once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=folder.parent) as temporary:
            fetched = Path(temporary) / "libs"
            fetch(fetched)
            wrong = wrong_files(fetched, checksums)
            if wrong:
                raise ImageError(
                    f"Kafka's jars: {wrong[0]} is missing or differs from the checksum in "
                    f"{CHECKSUMS.name} ({len(wrong)} files)"
                )
            publish(fetched, folder)
    except OSError as error:
        raise ImageError(f"Kafka's jars: {error.filename}: {error.strerror}") from error
    return folder


def publish(fetched: Path, folder: Path) -> None:
    """Move the jars to their folder, unless another process was faster."""
    try:
        fetched.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def wrong_files(folder: Path, checksums: Mapping[str, str]) -> list[str]:
    """Return the jars that are missing, unexpected, or have a wrong checksum."""
    present = {path.name: path for path in folder.glob("*.jar")}
    return sorted(
        name
        for name in {*present, *checksums}
        if name not in present
        or hashlib.sha256(present[name].read_bytes()).hexdigest() != checksums.get(name)
    )


def fetch(target: Path) -> None:
    """Copy the jars of pom.xml into `target` by Maven; a failure becomes an error of one line."""
    maven = shutil.which("mvn")
    if maven is None:
        raise ImageError("mvn is needed to fetch Kafka's jars: 'apt-get install maven' as root")
    command = [maven, "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", f"-DoutputDirectory={target}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise ImageError(f"fetching Kafka's jars took more than {FETCH_SECONDS} s") from error
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        reason = said[0].removeprefix("[ERROR] ") if said else "no reason given"
        raise ImageError(f"Maven could not fetch Kafka's jars: {reason}")
