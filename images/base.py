"""Build the base image: Python 3.13 and the tools for faults, with or without a registry.

With an image registry, the base is the official Python image with Debian packages. Without a
registry, mmdebstrap makes the base from the Debian mirror that the host itself is configured for.
The image contains iptables, iproute2, procps and libfaketime, so that faults work without root on
the host.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from kraftproof.images.context import build, exists, fingerprint
from kraftproof.images.errors import ImageError
from kraftproof.images.folders import owned_folder
from kraftproof.images.sources import IMAGES

OFFICIAL = "python:3.13-slim"
SUITE = "trixie"
TOOLS = ("ca-certificates", "iproute2", "iptables", "libfaketime", "procps")
PROBE_SECONDS = 8
BOOTSTRAP_SECONDS = 600

Plan = Literal["present", "registry", "debian"]


def base_tag() -> str:
    """Return the tag of the base image, independent of its source."""
    recipe = IMAGES / "base"
    return f"kraftproof/base:{fingerprint(recipe, [recipe / 'Dockerfile'], SUITE, *TOOLS)}"


def plan(client: docker.DockerClient) -> Plan:
    """Return the source of the base image: present, registry or Debian packages."""
    if exists(client, base_tag()):
        return "present"
    return "registry" if exists(client, OFFICIAL) or registry_answers(client) else "debian"


def registry_answers(client: docker.DockerClient) -> bool:
    """Return whether the engine can soon reach the official image, even by a proxy or mirror."""
    timeout = client.api.timeout
    client.api.timeout = PROBE_SECONDS
    try:
        client.images.get_registry_data(OFFICIAL)
    except (DockerException, RequestException):
        return False
    finally:
        client.api.timeout = timeout
    return True


def ensure_base(client: docker.DockerClient, progress: Callable[[str], None]) -> str:
    """Return the tag of the base image, built if missing; report the source in a line."""
    tag = base_tag()
    match plan(client):
        case "present":
            way = client.images.get(tag).labels.get("kraftproof.base", "unknown")
            progress(f"base image {tag}: present (made from: {way})")
        case "registry":
            progress(f"base image {tag}: from {OFFICIAL}, a registry answers")
            build(client, IMAGES / "base", tag, {"PACKAGES": " ".join(TOOLS)})
        case "debian":
            progress(f"base image {tag}: from Debian {SUITE} packages, no registry answers")
            bootstrap(client, tag)
    return tag


def bootstrap(client: docker.DockerClient, tag: str) -> None:
    """Make a root file system from Debian packages, and import it as an image."""
    mirror = debian_mirror(Path("/etc/apt"))
    packages = ",".join(("python3", *TOOLS))
    with owned_folder("base") as folder:
        archive = Path(folder) / "base.tar"
        command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}"]
        run_mmdebstrap([*command, SUITE, str(archive), mirror])
        repository, version = tag.split(":")
        client.api.import_image_from_file(
            str(archive),
            repository=repository,
            tag=version,
            changes=["LABEL kraftproof=1 kraftproof.base=debian", 'CMD ["python3"]'],
        )


def run_mmdebstrap(command: list[str]) -> None:
    """Run mmdebstrap; a failure becomes an error of one line."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=BOOTSTRAP_SECONDS
        )
    except FileNotFoundError as error:
        raise ImageError(
            f"no registry has {OFFICIAL} for this engine, and mmdebstrap is not installed: "
            "'apt-get install mmdebstrap' as root"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ImageError(f"mmdebstrap took more than {BOOTSTRAP_SECONDS} s") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        raise ImageError(f"mmdebstrap failed: {said[0] if said else 'no reason given'}")


def debian_mirror(apt: Path) -> str:
    """Return the first Debian mirror in the host's configuration.

    Args:
        apt: The folder of apt's configuration.

    Raises:
        ImageError: the host has no Debian mirror.
    """
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    for path in files:
        if path.suffix in {".list", ".sources"} and path.is_file():
            for uri, suite, component in entries(path.read_text(encoding="utf-8")):
                mirror = resolve(uri)
                if is_main_archive(suite, component) and "://" in mirror:
                    return mirror
    raise ImageError(
        f"no registry has {OFFICIAL} for this engine, and no Debian mirror is configured in {apt}"
    )


def resolve(uri: str) -> str:
    """Return the address, or the first entry if the address is a list of mirrors (cloud images)."""
    if not uri.startswith("mirror+file:"):
        return uri
    listed = Path(uri.removeprefix("mirror+file:").replace("//", "", 1))
    lines = listed.read_text(encoding="utf-8").split() if listed.is_file() else []
    return lines[0] if lines else ""


def is_main_archive(suite: str, component: str) -> bool:
    """Return whether an apt entry is the main archive of a Debian release."""
    return component == "main" and suite in {"bookworm", "trixie", "stable", "testing", "sid"}


def entries(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (address, suite, first component) of each entry of an apt source, in either format."""
    for line in re.finditer(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(\S+)", text, re.MULTILINE):
        yield line[1], line[2], line[3]
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(URIs|Suites|Components):\s*(\S+)", stanza, re.MULTILINE))
        if len(fields) == 3:
            yield fields["URIs"], fields["Suites"], fields["Components"]
