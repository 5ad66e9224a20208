"""The key-value server of this folder in containers that testcontainers describes."""

import os
from pathlib import Path

from system import KV
from testcontainers.core.container import DockerContainer

from kraftproof.cluster.systems.system import Deployment

SERVER = Path(__file__).with_name("server.py")
IMAGE = os.environ.get("PYTHON_IMAGE", "python:3.13-slim")


class ContainerKV(KV):
    """Each node is a DockerContainer; Kraftproof gives it an address, faults and clients."""

    name = "container-kv"
    backends = ("docker",)

    def deployment(self, site):
        """Return the container of a node, not yet started."""
        words = [f"{ports['client'].host}:7000" for ports in site.addresses.values()]
        own = f"{site.address('client').host}:7000"
        container = (
            DockerContainer(IMAGE)
            .with_command(["python3", "/app/server.py", own, *words])
            .with_env("PYTHONUNBUFFERED", "1")
            .with_volume_mapping(str(SERVER), "/app/server.py", "ro")
        )
        return Deployment(
            container=container,
            probe=b'{"f": "read", "key": "probe", "value": null}\n',
        )
