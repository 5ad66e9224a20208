"""Removes what dead owners left at the engine: containers, networks, and images of old sources.

Only what names a dead owner goes. What belongs to another boot or machine goes if nothing of it
runs; what belongs to another pid namespace is left alone, since its life can't be told from here.
"""

from collections.abc import Mapping, Set
from concurrent.futures import ThreadPoolExecutor

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container
from docker.models.networks import Network

from kraftproof.cluster.docker.engine import connect_engine, one_line
from kraftproof.cluster.docker.lease import engine_lock
from kraftproof.cluster.docker.owner import OWNER, RUN, owner_of
from kraftproof.cluster.owner import Life
from kraftproof.images.build import REPOSITORY

KEPT_IMAGES = 3
"""Number of unused images of the reference node that a sweep keeps, the newest first."""
LOCK_S = 30.0
REMOVERS = 8
UP = frozenset({"running", "paused", "restarting"})


def sweep(client: docker.DockerClient | None = None) -> list[str]:
    """Remove what dead owners left; return a line for each run.

    Raises:
        ClusterError: no engine answers, or it refuses.
    """
    engine = client if client is not None else connect_engine()
    with engine_lock(LOCK_S):
        return sweep_locked(engine)


def sweep_locked(client: docker.DockerClient) -> list[str]:
    """As `sweep`, for who holds the engine's lock."""
    with one_line("sweep"):
        lines = [
            f"docker run {run}: its owner is gone, {remove_run(client, run)} removed"
            for run in dead_runs(client)
        ]
        prune_images(client)
    return lines


def dead_runs(client: docker.DockerClient) -> list[str]:
    """Return the runs whose owner is gone."""
    containers = client.containers.list(
        all=True, sparse=True, ignore_removed=True, filters={"label": OWNER}
    )
    networks = client.networks.list(filters={"label": OWNER})
    found = [(dict(one.attrs["Labels"]), str(one.status)) for one in containers]
    up = {labels.get(RUN) for labels, status in found if status in UP}
    found += [(dict(one.attrs["Labels"]), "network") for one in networks]
    dead = set()
    for labels, _ in found:
        owner = owner_of(labels)
        run = labels.get(RUN)
        if owner is None or run is None:
            continue
        life = owner.life
        if life is Life.DEAD or (life is Life.OTHER_BOOT and run not in up):
            dead.add(run)
    return sorted(dead)


def remove_run(client: docker.DockerClient, run: str) -> int:
    """Remove everything of one run, whoever owns it; return how many objects there were."""
    only = {"label": f"{RUN}={run}"}
    containers = client.containers.list(all=True, sparse=True, ignore_removed=True, filters=only)
    with ThreadPoolExecutor(REMOVERS) as removers:
        list(removers.map(_remove_container, containers))
    networks = client.networks.list(filters=only)
    for network in networks:
        _remove_network(network)
    return len(containers) + len(networks)


def _remove_container(container: Container) -> None:
    try:
        container.remove(force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409 or "already in progress" not in str(error.explanation):
            raise
        container.wait(condition="removed")


def _remove_network(network: Network) -> None:
    try:
        network.remove()
    except NotFound:
        return  # another sweep was first


def prune_images(client: docker.DockerClient) -> None:
    """Remove images of older sources that no container uses, but for the newest few."""
    containers = client.containers.list(all=True, sparse=True, ignore_removed=True)
    images = client.images.list(name=REPOSITORY, filters={"label": "kraftproof=1"})
    created = {str(image.id): str(image.attrs["Created"]) for image in images}
    doomed = superseded(created, {str(one.attrs["ImageID"]) for one in containers})
    for image in images:
        if image.id in doomed:
            for tag in image.tags:
                _untag(client, tag)


def superseded(created: Mapping[str, str], used: Set[str]) -> list[str]:
    """Return the images to remove, of those with their times of creation."""
    newest_first = sorted(created, key=lambda image: created[image], reverse=True)
    return [image for image in newest_first[KEPT_IMAGES:] if image not in used]


def _untag(client: docker.DockerClient, tag: str) -> None:
    """Remove one tag; the engine itself refuses while a container uses the image."""
    try:
        client.images.remove(tag)
    except APIError as error:
        if error.status_code not in {404, 409}:
            raise
