"""Keep Kafka's jars in a cache folder: fetched once by Maven, checked on every use.

pom.xml lists the jars of the newest release, and jars.sha256 has the checksum of each file. The
checksums of another release are recorded at the first fetch. Maven's own configuration determines
the repository. The jars are not committed.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kraftproof.images.errors import ImageError
from kraftproof.images.folders import cache_base, owned_folder
from kraftproof.images.kafka.releases import NEWEST, RELEASES

VERSION: Final = NEWEST
HERE: Final = Path(__file__).resolve().parent
POM: Final = HERE / "pom.xml"
CHECKSUMS: Final = HERE / "jars.sha256"
FETCH_SECONDS: Final = 600
NODE_ARTIFACTS: Final = (
    ("org.apache.kafka", "kafka_2.13", None),
    ("org.slf4j", "slf4j-simple", "1.7.36"),
)
"""Group, artifact and version of the jars of a node; None means the version of Kafka."""


def ensure_jars(progress: Callable[[str], object], version: str = VERSION) -> Path:
    """Return the folder of Kafka's jars; fetch missing jars.

    Args:
        progress: Called with a line before a download.
        version: The release; the newest includes Kafka's tools.

    Raises:
        ImageError: the release is unknown, Maven is missing or fails, or a file has a wrong
            checksum.
    """
    refuse_unknown(version)
    if version == VERSION:
        return ensure(cache_folder(), read_checksums(), progress)
    folder = jars_folder(version)
    recorded = folder.with_name(f"{folder.name}.sha256")
    checksums = read_checksums(recorded) if recorded.is_file() else None
    return ensure(folder, checksums, progress, version=version, recorded=recorded)


def refuse_unknown(version: str, oldest: str = RELEASES[0], why: str = "") -> None:
    """Refuse an unknown or too old release.

    Args:
        version: The release.
        oldest: The oldest possible release.
        why: The reason for the oldest release, as a half sentence.

    Raises:
        ImageError: one line with the possible releases.
    """
    able = RELEASES[RELEASES.index(oldest) :]
    if version not in able:
        reason = f" ({why}, which Kafka has since {oldest})" if why else ""
        raise ImageError(f"Kafka {version!r} can't run here, only {', '.join(able)}{reason}")


def jars_folder(version: str) -> Path:
    """Return the folder of a release's jars; `ensure_jars` fills the folder."""
    return cache_folder() if version == VERSION else cache_base() / f"kafka-{version}"


def cache_folder() -> Path:
    """Return the folder for the listed jars; another list has another folder."""
    name = hashlib.sha256(CHECKSUMS.read_bytes()).hexdigest()[:12]
    return cache_base() / f"kafka-{VERSION}-{name}"


def read_checksums(path: Path = CHECKSUMS) -> dict[str, str]:
    """Return each jar's SHA-256 by file name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def ensure(
    folder: Path,
    checksums: Mapping[str, str] | None,
    progress: Callable[[str], object],
    *,
    version: str = VERSION,
    recorded: Path = CHECKSUMS,
) -> Path:
    """Return `folder` with the jars of `checksums`; fetch into a temporary folder, then rename.

    Args:
        folder: The jars' folder.
        checksums: The SHA-256 of each jar; None records the checksums of a first fetch.
        progress: Called with a line before a download.
        version: The release.
        recorded: The file of the checksums.

    Raises:
        ImageError: Maven is missing or fails, or a file has a wrong checksum.
    """
    if folder.is_dir():
        if checksums is not None and not wrong_files(folder, checksums):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
    progress(f"fetching Kafka {version}'s jars with Maven (about 50 MB, once)")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with owned_folder("fetch", folder.parent) as temporary:
            fetched = Path(temporary) / "libs"
            fetch(fetched, version)
            if checksums is None:
                _record(fetched, recorded, Path(temporary) / "sha256")
            else:
                _refuse_wrong(fetched, checksums, recorded)
            publish(fetched, folder)
    except OSError as error:
        raise ImageError(f"Kafka's jars: {error.filename}: {error.strerror}") from error
    return folder


def _refuse_wrong(fetched: Path, checksums: Mapping[str, str], recorded: Path) -> None:
    wrong = wrong_files(fetched, checksums)
    if wrong:
        raise ImageError(
            f"Kafka's jars: {wrong[0]} is missing or differs from the checksum in "
            f"{recorded.name} ({len(wrong)} files)"
        )


def _record(fetched: Path, recorded: Path, part: Path) -> None:
    """Write the checksums of a first fetch, atomically."""
    paths = sorted(fetched.glob("*.jar"))
    if not paths:
        raise ImageError(f"Kafka's jars: Maven fetched none for {recorded.stem}")
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
    part.write_text("".join(lines), encoding="utf-8")
    part.replace(recorded)


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


def fetch(target: Path, version: str = VERSION) -> None:
    """Copy the jars of a release into `target` by Maven; a failure becomes an error of one line."""
    maven = shutil.which("mvn")
    if maven is None:
        raise ImageError("mvn is needed to fetch Kafka's jars: 'apt-get install maven' as root")
    pom = POM if version == VERSION else target.with_name("pom.xml")
    if version != VERSION:
        pom.write_text(pom_of(version), encoding="utf-8")
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
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


def pom_of(version: str) -> str:
    """Return the pom.xml of a node of a release."""
    artifacts = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{fixed or version}</version></dependency>"
        for group, artifact, fixed in NODE_ARTIFACTS
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>kraftproof</groupId>"
        "<artifactId>kafka-jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{artifacts}</dependencies></project>"
    )
