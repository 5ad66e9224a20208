"""The base image: Python 3.13 and the tools that faults need, with or without a registry.

What it is: two ways to the same thing. Where an image registry answers, the official Python image
plus Debian packages; where none answers, all of it from Debian packages by mmdebstrap, from the
mirror that this host is itself configured for. What it is not: minimal; iptables, iproute2, procps
and libfaketime are there so that faults work where the harness isn't root.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from kraftproof.images.context import IMAGES, build, exists, fingerprint
from kraftproof.images.errors import ImageError

OFFICIAL = "python:3.13-slim"
SUITE = "trixie"
TOOLS = ("ca-certificates", "iproute2", "iptables", "libfaketime", "procps")
PROBE_SECONDS = 8
BOOTSTRAP_SECONDS = 600

Plan = Literal["present", "registry", "debian"]


def base_tag() -> str:
    """The tag of the base, the same whichever way it was made."""
    recipe = IMAGES / "base"
    return f"kraftproof/base:{fingerprint(recipe, [recipe / 'Dockerfile'], SUITE, *TOOLS)}"


def plan(client: docker.DockerClient) -> Plan:
    """What making the base would take here: nothing, a registry, or Debian packages."""
    if exists(client, base_tag()):
        return "present"
    return "registry" if exists(client, OFFICIAL) or registry_answers(client) else "debian"


def registry_answers(client: docker.DockerClient) -> bool:
    """Whether the engine can reach the official image soon (its proxies and mirrors count)."""
    patience = client.api.timeout
    client.api.timeout = PROBE_SECONDS
    try:
        client.images.get_registry_data(OFFICIAL)
    except (DockerException, RequestException):
        return False
    finally:
        client.api.timeout = patience
    return True


def ensure_base(client: docker.DockerClient, progress: Callable[[str], None]) -> str:
    """The base image's tag, made if it isn't there; says in one line which way it took."""
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
    """Make a root file system out of Debian packages and import it."""
    mirror = debian_mirror(Path("/etc/apt"))
    packages = ",".join(("python3", *TOOLS))
    with tempfile.TemporaryDirectory(prefix="kraftproof-base-") as folder:
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
    """Run mmdebstrap, its failures told in one line."""
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
    """The first Debian mirror this host itself is configured for.

    Args:
        apt: The folder of apt's configuration.

    Raises:
        ImageError: The host has none, for it isn't Debian.
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
    """An address itself, or the first one of the list of mirrors that it names (cloud images)."""
    if not uri.startswith("mirror+file:"):
        return uri
    listed = Path(uri.removeprefix("mirror+file:").replace("//", "", 1))
    lines = listed.read_text(encoding="utf-8").split() if listed.is_file() else []
    return lines[0] if lines else ""


def is_main_archive(suite: str, component: str) -> bool:
    """Whether an apt entry is a Debian release's own archive (no security, no third party)."""
    return component == "main" and suite in {"bookworm", "trixie", "stable", "testing", "sid"}


def entries(text: str) -> Iterator[tuple[str, str, str]]:
    """(address, suite, first component) of each entry of an apt source, in either format."""
    for line in re.finditer(r"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+(\S+)\s+(\S+)", text, re.MULTILINE):
        yield line[1], line[2], line[3]
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(URIs|Suites|Components):\s*(\S+)", stanza, re.MULTILINE))
        if len(fields) == 3:
            yield fields["URIs"], fields["Suites"], fields["Components"]
