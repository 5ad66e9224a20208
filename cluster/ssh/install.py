"""Software of a node on a bare host: uploads from this machine, and packages of the host's system.

All of it lies in the directory of the run on the host, and goes with the run.
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.host import Progress
from kraftproof.cluster.ssh.facts import HostFacts
from kraftproof.cluster.ssh.login import SshError
from kraftproof.cluster.ssh.machine import Machine, pack
from kraftproof.cluster.systems.deployment import Deployment, Platform
from kraftproof.cluster.systems.programs import DebianPackages
from kraftproof.images.folders import owned_folder

UPLOAD_FOLDER: Final = "software"
PROGRAMS_FOLDER: Final = "programs"
PACKAGES_FOLDER: Final = "packages"
PACKAGES_S: Final = 240.0


class Archives:
    """Archives of uploads, each made once for all hosts of a kind."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.building = asyncio.Lock()
        self._folder = owned_folder("ssh")
        self._made: dict[object, asyncio.Task[Path]] = {}

    async def of(self, key: object, fill: Callable[[Path], None]) -> Path:
        """Return the archive of a key; the first call fills its folder."""
        if key not in self._made:
            archive = Path(self._folder.name) / f"{len(self._made)}.tar.gz"
            self._made[key] = asyncio.create_task(asyncio.to_thread(_make, archive, fill))
        return await asyncio.shield(self._made[key])

    def remove(self) -> None:
        """Remove the archives of the run."""
        self._folder.cleanup()


def _make(archive: Path, fill: Callable[[Path], None]) -> Path:
    with tempfile.TemporaryDirectory(prefix="content-", dir=archive.parent) as folder:
        fill(Path(folder))
        pack(Path(folder), archive)
    return archive


async def install(
    machine: Machine, facts: HostFacts, directory: str, deployment: Deployment, archives: Archives
) -> dict[str, str]:
    """Bring a node's software to a host; return the variables that make the node find it.

    Raises:
        SshError: a transfer failed, or a package can't be had.
        ClusterError: the deployment has an image and nothing for a bare host.
    """
    found: dict[str, str] = {}
    if deployment.container is not None:
        raise ClusterError(f"host {machine.name}: only the docker backend can start a container")
    if deployment.upload is not None:
        await _upload(machine, facts, f"{directory}/{UPLOAD_FOLDER}", deployment, archives)
    if deployment.programs is not None:
        folder = f"{directory}/{PROGRAMS_FOLDER}"
        async with archives.building:  # the nodes deploy at the same time, and share programs
            programs = await asyncio.to_thread(deployment.programs, archives.progress)
        archive = await archives.of(programs, lambda target: _link_all(programs, target))
        await machine.upload(archive, folder)
        found["PATH"] = folder
    elif isinstance(deployment.image, DebianPackages):
        archives.progress(f"host {machine.name}: {', '.join(deployment.image.packages)}")
        told = await machine.agent(
            "packages",
            {
                "names": deployment.image.packages,
                "directory": f"{directory}/{PACKAGES_FOLDER}",
                "sudo": machine.entry.sudo,
            },
            deadline_s=PACKAGES_S,
        )
        found |= told["environment"]
    elif deployment.image is not None and deployment.upload is None:
        raise ClusterError(
            f"host {machine.name}: the deployment has an image only; the ssh backend needs an "
            "upload, programs or Debian packages"
        )
    return found


async def _upload(
    machine: Machine, facts: HostFacts, folder: str, deployment: Deployment, archives: Archives
) -> None:
    upload = deployment.upload
    assert upload is not None, "the caller has looked"
    platform = Platform(facts.machine, ".".join(map(str, facts.python)))
    try:
        archive = await archives.of(
            (upload, platform), lambda target: upload(platform, target, archives.progress)
        )
    except OSError as error:
        raise SshError(machine.name, f"the upload can't be made: {error}") from error
    await machine.upload(archive, folder)


def _link_all(source: Path, target: Path) -> None:
    for path in source.iterdir():
        (target / path.name).symlink_to(path.absolute())
