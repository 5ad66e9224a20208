"""A standalone Spark cluster in containers: one master, workers, a driver when one is asked for.

All are of one image and share one folder with the host, under the same path. Labelled as all of
ours, so that a dead test's containers and network are swept.
"""

import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.models.containers import Container
from docker.types import Mount
from requests.exceptions import ConnectionError  # noqa: A004 the name that it has there

from kraftproof.cluster.docker.lease import lease_subnet
from kraftproof.cluster.docker.owner import labels
from kraftproof.cluster.docker.pods import fair_cgroup_parent
from kraftproof.images.spark import SPARK_CLASS, ensure_spark_image

PORT = 7077
PATIENCE_S = 60.0
JOB_S = 400
"""Some forty by itself; a machine that does ten other things takes ten times as long."""
MASTER = ("org.apache.spark.deploy.master.Master", "--port", str(PORT), "--host", "0.0.0.0")
WORKER = ("org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "1g")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkCluster:
    """A cluster that stands."""

    client: docker.DockerClient
    image: str
    network: str
    run: str
    folder: Path
    workers: tuple[Container, ...]

    @property
    def master(self) -> str:
        return f"spark://{self.run}-master:{PORT}"

    def submit(self, *arguments: str) -> tuple[int, str]:
        """Runs `kraftproof ARGUMENTS` in a container of the cluster's network: code and output."""
        driver = start(self, "driver", ("python3", "-m", "kraftproof", *arguments))
        try:
            code = int(driver.wait(timeout=JOB_S)["StatusCode"])
            return code, driver.logs().decode()
        except ConnectionError as error:
            raise AssertionError(f"not done after {JOB_S} s: {driver.logs().decode()}") from error
        finally:
            driver.remove(force=True)


def start(cluster: SparkCluster, name: str, command: Sequence[str]) -> Container:
    folder = str(cluster.folder)
    return cluster.client.containers.run(
        cluster.image,
        list(command),
        name=f"{cluster.run}-{name}",
        hostname=f"{cluster.run}-{name}",
        network=cluster.network,
        labels=labels(cluster.run),
        mounts=[Mount(target=folder, source=folder, type="bind")],
        environment={"SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"},
        working_dir=folder,
        # Files belong to who runs the tests; Hadoop wants a name for the user, and a home.
        user=f"{os.getuid()}:{os.getgid()}",
        cgroup_parent=fair_cgroup_parent(str(cluster.client.info()["CgroupDriver"])),
        detach=True,
    )


def wait_for(container: Container, said: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while said not in container.logs().decode():
        container.reload()
        assert container.status == "running", container.logs().decode()
        assert time.monotonic() < deadline, container.logs().decode()
        time.sleep(0.2)


@contextmanager
def spark_cluster(folder: Path, workers: int) -> Iterator[SparkCluster]:
    """Starts a cluster whose machines see `folder`, and removes it."""
    client = docker.from_env(timeout=120)
    run = f"spark-{secrets.token_hex(4)}"
    image = ensure_spark_image(client)
    network = lease_subnet(client, run).network
    made: list[Container] = []
    try:
        cluster = SparkCluster(
            client=client,
            image=image,
            network=str(network.name),
            run=run,
            folder=folder,
            workers=(),
        )
        made.append(start(cluster, "master", (SPARK_CLASS, *MASTER)))
        wait_for(made[0], "I have been elected leader")
        for number in range(workers):
            worker = (SPARK_CLASS, *WORKER, cluster.master)
            made.append(start(cluster, f"worker-{number}", worker))
        for container in made[1:]:
            wait_for(container, "Successfully registered with master")
        yield SparkCluster(
            client=client,
            image=image,
            network=str(network.name),
            run=run,
            folder=folder,
            workers=tuple(made[1:]),
        )
    finally:
        for container in made:
            container.remove(force=True)
        network.remove()
        client.close()
