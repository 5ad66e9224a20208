"""Deployment of a reference node: server.properties, a formatted disk, and kraft-node."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kraftproof.cluster.systems.deployment import Command, Deployment, Site
from kraftproof.cluster.systems.kafka.probe import api_versions
from kraftproof.cluster.systems.kafka.quorum import cluster_id
from kraftproof.cluster.systems.reference.certificates import Certificates
from kraftproof.cluster.systems.reference.chosen_security import first_credentials
from kraftproof.cluster.systems.reference.clock import TRACE_FILE, wall_clock
from kraftproof.cluster.systems.reference.node_config import live_properties
from kraftproof.cluster.systems.reference.server_properties import server_properties
from kraftproof.cluster.systems.reference.upload import imports, upload

if TYPE_CHECKING:
    import docker

PROPERTIES: Final = "server.properties"
MUTANT: Final = "mutant.py"


def deployment(site: Site, certificates: Certificates | None = None) -> Deployment:
    """Return what the node of a site is made of; certificates if the listeners have TLS."""
    properties = str(site.directory / PROPERTIES)
    identity = f"--cluster-id={cluster_id(site.options.seed)}"  # an id may begin with a hyphen
    tool = (site.python, "-m", "kraftproof.node.tools.storage")
    settings = live_properties(site.options)
    formatting = ("format", "-c", properties, identity, *first_credentials(settings))
    files = {PROPERTIES: server_properties(site, settings, certificates)}
    mutant = site.options.mutant
    if mutant is not None and Path(mutant).is_file():
        files[MUTANT] = Path(mutant).read_text(encoding="utf-8")  # for a container to see it
        mutant = str(site.directory / MUTANT)
    return Deployment(
        command=(site.python, "-m", *_module(mutant), properties),
        files=files,
        setup=((*tool, *formatting),),
        image=reference_image,
        data=("data",),
        probe=api_versions(),
        has_tls=certificates is not None,
        wall_clock=wall_clock,
        clock_log=TRACE_FILE,
        upload=upload,
        environment={} if site.uploads is None else imports(site.uploads),
    )


def reference_image(client: "docker.DockerClient", progress: Callable[[str], None]) -> str:
    """Return the tag of the node's image, built if there is none; needs the extra docker."""
    from kraftproof.images.build import ensure_reference_image

    return ensure_reference_image(client, progress)


def _module(mutant: str | None) -> Command:
    if mutant is None:
        return ("kraftproof.node.server.main",)
    return ("kraftproof.mutants", mutant, "--")
