"""etcd as a system under test: three real nodes, and clients of the JSON gateway of its v3 API."""

import re
import shutil
from base64 import b64encode

from etcd_clients import CHANGES, CLIENTS, ERRORS

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.http import asked_date, connect_json
from kraftproof.cluster.systems.programs import DebianPackages, GoProgram
from kraftproof.cluster.systems.system import (
    Deployment,
    Guarantee,
    System,
    SystemUnavailableError,
)

ASK_S = 0.5
PROBE = b64encode(b"a").decode()
MODULE = "go.etcd.io/etcd/server/v3"
MAIN = f"""package main

import (
	"os"

	"{MODULE}/etcdmain"
)

func main() {{ etcdmain.Main(os.Args) }}
"""


class Etcd(System):
    """Three nodes of etcd: Debian's 3.5.16 in containers, or a release that Go builds."""

    name = "etcd"
    errors = ERRORS
    workloads = tuple(CLIENTS)
    clock_step_s = 1.0
    guarantees = dict.fromkeys(("read", *CHANGES), Guarantee.LINEARIZABLE)

    def ports(self, node):
        """Return the ports of clients and of the other nodes."""
        return {"client": 2379, "peer": 2380}

    def refuse_version(self, options):
        """Refuse what is no release, and a machine without the program."""
        version = options.system_version
        if version is None:
            if options.backend == "local" and shutil.which("etcd") is None:
                raise SystemUnavailableError(
                    "--backend local: there is no etcd on PATH; install it, or let Go build a "
                    "release: --system-version 3.6.12"
                )
        elif re.fullmatch(r"3\.[5-9]\.\d+", version) is None:
            raise SystemUnavailableError(
                f"--system-version {version}: a release of etcd from 3.5.0 on is expected, for "
                "example 3.6.12"
            )

    def deployment(self, site):
        """Return one etcd that knows all nodes by their peer addresses."""
        client, peer = site.address("client"), site.address("peer")
        url = f"http://{client.host}:{client.port}"
        found = ((node, at["peer"]) for node, at in site.addresses.items())
        peers = {node: f"http://{at.peer_host}:{at.port}" for node, at in found}
        version, program = site.options.system_version, None
        if version is not None:
            program = GoProgram(name="etcd", module=MODULE, version=f"v{version}", main=MAIN)
        return Deployment(
            command=(
                *("etcd", "--name", str(site.node.node_id), "--data-dir", "data"),
                *("--listen-client-urls", url, "--advertise-client-urls", url),
                *("--listen-peer-urls", f"http://{peer.host}:{peer.port}"),
                *("--initial-advertise-peer-urls", peers[site.node.node_id]),
                *("--initial-cluster-token", str(site.options.directory)),
                *("--initial-cluster", ",".join(f"{n}={at}" for n, at in peers.items())),
                *("--heartbeat-interval", "100", "--election-timeout", "1000"),
            ),
            image=program or DebianPackages(packages=("etcd-server",)),
            programs=program and program.directory,
            data=("data",),
            probe=b"GET /version HTTP/1.0\r\n\r\n",
        )

    async def lacks(self, cluster):
        """Ask every node for a linearizable read."""
        for node in cluster.nodes:
            status, answer = await self.ask(cluster, node.node_id, "/v3/kv/range", {"key": PROBE})
            if status != 200:
                return f"{node.name}: {answer}"
        return None

    async def roles(self, cluster):
        """Return the node that says it leads; of several the one of the latest term."""
        terms = {}
        for node in cluster.nodes:
            status, answered = await self.ask(cluster, node.node_id, "/v3/maintenance/status", {})
            if status == 200 and answered.get("leader") == answered["header"]["member_id"]:
                terms[int(answered["raftTerm"])] = node.node_id
        if not terms:
            return {}
        leader = terms[max(terms)]
        followers = [node.node_id for node in cluster.nodes if node.node_id != leader]
        return {"leader": (leader,), "follower": tuple(followers)}

    async def identity(self, cluster, node_id):
        """Return the id of the cluster to which the node belongs."""
        status, answered = await self.ask(cluster, node_id, "/v3/maintenance/status", {})
        return answered["header"]["cluster_id"] if status == 200 else None

    async def wall_clock(self, cluster, node_id):
        """Return the date of an answer over HTTP, which has whole seconds."""
        return await asked_date(cluster.address(node_id, "client"), "/version", ASK_S)

    async def ask(self, cluster, node_id, path, request):
        """Return status and answer of one node; status 0 and the reason without an answer."""
        try:
            connection = await connect_json(cluster.address(node_id, "client"), ASK_S)
            try:
                return await connection.post(path, request, ASK_S)
            finally:
                connection.close()
        except (ConnectionFailed, OutcomeUnknown) as error:
            return 0, str(error)

    def client(self, cluster, workload, random):
        """Return a client of a node that is drawn."""
        if workload not in CLIENTS:
            raise SystemUnavailableError(f"the system etcd has no client for {workload!r}")
        return CLIENTS[workload](cluster, random)
