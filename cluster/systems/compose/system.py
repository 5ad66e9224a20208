"""The services of a Compose file as a system under test: --system compose:FILE --client CLASS."""

from random import Random
from typing import ClassVar, Final, cast

from typing_extensions import override

from kraftproof.cluster.compose_reference import parts
from kraftproof.cluster.plugin import PluginLoadError
from kraftproof.cluster.plugin_file import function_of_file
from kraftproof.cluster.protocol import Capability, Cluster, ClusterOptions, NodeInfo
from kraftproof.cluster.systems.compose.client import ComposeClient
from kraftproof.cluster.systems.compose.container import built, container_of, has_health_check
from kraftproof.cluster.systems.compose.file import ComposeFile, read_compose
from kraftproof.cluster.systems.compose.service import Service
from kraftproof.cluster.systems.system import (
    Client,
    Dependency,
    Deployment,
    Site,
    System,
    SystemUnavailableError,
)
from kraftproof.images.errors import ImageError

CAPABILITIES: Final = frozenset(
    {
        Capability.KILL,
        Capability.PAUSE,
        Capability.RESTART,
        Capability.PARTITION,
        Capability.LOSS,
        Capability.CPU,
        Capability.MEMORY,
    }
)
"""No faults of clocks, which need libfaketime in the image, and none of disks."""


class ComposeSystem(System):
    """Base of the systems that Compose files describe; `compose_system` makes one."""

    name = "compose"
    backends: ClassVar[tuple[str, ...]] = ("docker",)
    file: ClassVar[ComposeFile]
    client_class: ClassVar[type[ComposeClient]]

    def __init__(self) -> None:
        self._images: dict[str, str] = {}

    @override
    def ports(self, node: NodeInfo) -> dict[str, int]:
        first, *others = self._service(node).ports
        return {"client": first, **{str(port): port for port in others}}

    @override
    def host_names(self, node: NodeInfo) -> tuple[str, ...]:
        service = self._service(node)
        number = node.node_id - self._first(service.name)
        if number == 0:
            return (service.name, f"{service.name}-1", *service.aliases)
        return (f"{service.name}-{number + 1}",)

    @override
    def remarks(self) -> tuple[str, ...]:
        where = self.file.path.name
        profiles = [(name, "the whole service, which has a profile") for name in self.file.left_out]
        settings = [(one.name, ", ".join(one.left_out)) for one in self.file.services]
        return tuple(
            f"{where}: service {name}: left out: {what}"
            for name, what in (*profiles, *settings)
            if what
        )

    @override
    def refuse(self, options: ClusterOptions) -> None:
        roles = [service.name for service in self.file.services for _ in range(service.count)]
        if [node.roles[0] for node in options.nodes] != roles:
            raise SystemUnavailableError(
                f"--nodes: the nodes are the services of {self.file.path}: {self.nodes}; set "
                "deploy.replicas there"
            )
        super().refuse(options)

    @override
    def provide(self, options: ClusterOptions) -> None:
        del options
        for service in self.file.services:
            if service.build is not None:
                try:
                    self._images[service.name] = built(service.build, _silent)
                except ImageError as error:
                    raise SystemUnavailableError(
                        f"{self.file.path}: services.{service.name}.build: {error}"
                    ) from error
        self._refuse_unchecked()

    def _refuse_unchecked(self) -> None:
        """Refuse a service that waits for the health of another one without a health check."""
        unchecked = {one.name: one for one in self.file.services if one.check is None}
        for service in self.file.services:
            for name, is_healthy in service.after.items():
                if not is_healthy or name not in unchecked:
                    continue
                image = self._images.get(name, unchecked[name].image or "")
                if has_health_check(image) is False:
                    raise SystemUnavailableError(
                        f"{self.file.path}: services.{service.name}.depends_on: {name} has no "
                        f"health check, neither in the file nor in its image {image}: give "
                        f"services.{name}.healthcheck, or take condition: service_started"
                    )

    @override
    def deployment(self, site: Site) -> Deployment:
        service = self._service(site.node)
        image = self._images.get(service.name, service.image or "")
        run = site.options.directory.absolute()
        return Deployment(
            container=container_of(service, image, run, site.directory),
            probe=self.client_class.probe,
            after=tuple(
                Dependency(node_id=node.node_id, is_healthy=service.after[node.roles[0]])
                for node in site.nodes
                if node.roles[0] in service.after
            ),
        )

    @override
    def capabilities(self, can: frozenset[Capability]) -> frozenset[Capability]:
        return can & CAPABILITIES

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        return self.client_class(cluster, workload, random)

    def _service(self, node: NodeInfo) -> Service:
        return next(one for one in self.file.services if one.name == node.roles[0])

    def _first(self, service: str) -> int:
        """Return the number of the first node of a service."""
        before = 1
        for one in self.file.services:
            if one.name == service:
                break
            before += one.count
        return before


def compose_system(name: str) -> System:
    """Return the system that compose:FILE#CLIENT names.

    Raises:
        ComposeFileError: the file has a mistake; one line.
        SystemUnavailableError: no client is given.
        PluginLoadError: the client can't be loaded, or is no ComposeClient.
    """
    path, named = parts(name)
    try:
        file = read_compose(path)
    except ImportError as error:
        raise SystemUnavailableError(
            f"{path}: needs the extra docker: pip install 'kraftproof[docker]'"
        ) from error
    reference = named
    if reference is None and file.client is not None:
        reference = str(path.parent.absolute() / file.client)
    if reference is None:
        raise SystemUnavailableError(
            f"{path}: no client: give --client path/to/file.py:Class, or name it in the file "
            "under x-kraftproof"
        )
    found: object = function_of_file("client", reference, "class Client")
    if not isinstance(found, type) or not issubclass(found, ComposeClient):
        raise PluginLoadError(f"client {reference}: not a subclass of ComposeClient")
    attributes = {
        "file": file,
        "client_class": found,
        "nodes": ",".join(f"{one.name}={one.count}" for one in file.services),
        "roles_of_nodes": tuple(one.name for one in file.services),
        "known_roles": tuple(one.name for one in file.services),
        "workloads": found.workloads,
        "errors": found.errors,
        "guarantees": found.guarantees,
        "ready_s": found.ready_s,
    }
    return cast("System", type("Compose", (ComposeSystem,), attributes)())


def _silent(line: str) -> None:
    """Take a line of progress that nobody reads."""
    del line
