"""A small chaos of its own for tests of the simulator: random faults under random requests.

Not the harness (kraftproof/): no histories, no checkers; only the simulator's invariants judge.
`python -m tests.cluster.simulated.chaos SEED` prints what happened, for runs in other processes.
"""

import argparse
import hashlib
import json
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import ClusterError, ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_registration_request,
    create_topics_request,
)
from kraftproof.node.wire.types import Uuid

SECOND = 1_000_000_000


class Chaos:
    def __init__(self, cluster: SimulatedCluster, seed: int, seconds: float) -> None:
        self.cluster = cluster
        self.random = Random(f"{seed}/chaos")
        self.end = int(seconds * SECOND)
        self.answers: list[str] = []

    async def main(self) -> None:
        cluster, scope = self.cluster, self.cluster.scope
        await cluster.start()
        self.end += scope.now()
        tasks = [scope.spawn(self.creator(number)) for number in range(4)]
        tasks += [scope.spawn(self.registrar(1000 + number)) for number in range(2)]
        tasks += [scope.spawn(self.nemesis(number)) for number in range(2)]
        for task in tasks:
            await task
        await cluster.quiesce()
        await cluster.stop()

    async def ask(self, node_id, message, version):
        try:
            connection = await self.cluster.connect(node_id, 2 * SECOND)
        except ConnectionFailed:
            return None
        try:
            return await connection.call(message, version, 2 * SECOND)
        except (ConnectionFailed, OutcomeUnknown):
            return None
        finally:
            connection.close()

    async def creator(self, number: int) -> None:
        scope, random = self.cluster.scope, self.random
        brokers = [node.node_id for node in self.cluster.nodes if node.has("broker")]
        count = 0
        while scope.now() < self.end:
            await scope.sleep(int(random.expovariate(10) * SECOND))
            count += 1
            topic = create_topics_request.CreatableTopic(
                name=f"topic-{number}-{count // 3}", num_partitions=1, replication_factor=2
            )
            request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=2000)
            answer = await self.ask(random.choice(brokers), request, 7)
            self.answers.append(
                f"{topic.name} {None if answer is None else answer.topics[0].error_code}"
            )

    async def registrar(self, broker_id: int) -> None:
        scope, random = self.cluster.scope, self.random
        controllers = [node.node_id for node in self.cluster.nodes if node.has("controller")]
        owned: dict[int, int] = {}
        target = random.choice(controllers)
        while scope.now() < self.end:
            await scope.sleep(int(random.choice((0.05, 0.4, 0.4, 2.5)) * SECOND))
            incarnation = random.randrange(2)
            if incarnation in owned and random.random() < 0.8:
                message = broker_heartbeat_request.BrokerHeartbeatRequest(
                    broker_id=broker_id,
                    broker_epoch=owned[incarnation],
                    current_metadata_offset=1 << 40,
                    want_fence=random.random() < 0.2,
                )
                version = 1
            else:
                message = self.registration(broker_id, incarnation)
                version = 3
            answer = await self.ask(target, message, version)
            if answer is None or answer.error_code == 41:
                target = random.choice(controllers)
            elif version == 3 and answer.error_code == 0:
                owned[incarnation] = answer.broker_epoch
            self.answers.append(f"{broker_id} {None if answer is None else answer.error_code}")

    def registration(self, broker_id: int, incarnation: int):
        feature = broker_registration_request.Feature(
            name="metadata.version", min_supported_version=1, max_supported_version=100
        )
        return broker_registration_request.BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=self.cluster.world.cluster_id,
            incarnation_id=Uuid(bytes([incarnation + 1]) * 16),
            listeners=(broker_registration_request.Listener(name="PLAINTEXT", host="h", port=1),),
            features=(feature,),
        )

    async def nemesis(self, number: int) -> None:
        scope, random = self.cluster.scope, self.random
        while scope.now() < self.end:
            await scope.sleep(int(random.uniform(0.1, 1.5) * SECOND))
            faults = (
                self.kill,
                self.pause,
                self.cut,
                self.cut,
                self.clock,
                self.power,
                self.bridge,
            )
            await random.choice(faults)(int(random.uniform(0.2, 2.5) * SECOND))

    def victims(self) -> list[int]:
        nodes = self.cluster.nodes
        if self.random.random() < 0.7:
            nodes = tuple(node for node in nodes if node.has("controller"))
        size = self.random.choice((1, 1, 1, 2, len(nodes)))
        return sorted(node.node_id for node in self.random.sample(nodes, min(size, len(nodes))))

    async def kill(self, duration: int) -> None:
        victims = self.victims()
        for node_id in victims:
            await self.cluster.kill(node_id)
        await self.cluster.scope.sleep(duration // 2)
        for node_id in victims:
            await self.cluster.start_node(node_id)

    async def power(self, duration: int) -> None:
        victims = self.victims()
        for node_id in victims:
            await self.cluster.lose_unsynced(node_id)
        await self.cluster.scope.sleep(duration // 2)
        for node_id in victims:
            await self.cluster.start_node(node_id)

    async def pause(self, duration: int) -> None:
        victims = [v for v in self.victims() if await self.cluster.process_id(v) is not None]
        for node_id in victims:
            with suppress(ClusterError):
                await self.cluster.pause(node_id)
        await self.cluster.scope.sleep(duration)
        for node_id in victims:
            await self.cluster.resume(node_id)

    async def cut(self, duration: int) -> None:
        ids = [node.node_id for node in self.cluster.nodes]
        side = set(self.victims())
        one_way = self.random.random() < 0.3
        links = {Link(a, b) for a in side for b in ids if b not in side}
        if not one_way:
            links |= {Link(link.target, link.source) for link in links}
        if links and self.random.random() < 0.4:
            links = set(self.random.sample(sorted(links), max(1, len(links) // 3)))
        await self.cluster.cut(frozenset(links))
        await self.cluster.scope.sleep(duration)
        await self.cluster.heal(frozenset(links))

    async def bridge(self, duration: int) -> None:
        """A standby loses the leader only; the leader may sleep while another is elected."""
        scope, machines = self.cluster.scope, self.cluster.world.machines
        voters = [node.node_id for node in self.cluster.nodes if node.has("controller")]
        leaders = [
            voter
            for voter in voters
            if (process := machines[voter].process) is not None
            and process.status is not None
            and process.status.role == "leader"
        ]
        if not leaders or len(voters) < 2:
            return
        leader = leaders[-1]
        standby = self.random.choice([voter for voter in voters if voter != leader])
        links = frozenset({Link(leader, standby), Link(standby, leader)})
        await self.cluster.cut(links)
        await scope.sleep(int(self.random.uniform(0.5, 1.5) * SECOND))
        if await self.cluster.process_id(leader) is not None and self.random.random() < 0.7:
            await self.cluster.pause(leader)
            await scope.sleep(int(self.random.uniform(0.1, 0.9) * SECOND))
            await self.cluster.resume(leader)
        await scope.sleep(duration // 2)
        await self.cluster.heal(links)

    async def clock(self, duration: int) -> None:
        for node_id in self.victims():
            offset = int(self.random.uniform(-60, 60) * SECOND)
            await self.cluster.shift_clock(node_id, offset)
        await self.cluster.scope.sleep(duration)


def digest_of(directory: Path, answers: list[str]) -> str:
    """The hash of every file of the run, by name, and of every answer."""
    digest = hashlib.sha256("\n".join(answers).encode())
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(directory)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def run_chaos(seed: int, seconds: float, directory: Path, controllers: int = 3, brokers: int = 3):
    """Return the cluster after its run, and the hash of all that it has left."""
    options = ClusterOptions(
        nodes=nodes_of(controller=controllers, broker=brokers), seed=seed, directory=directory
    )
    cluster = SimulatedCluster(options)
    chaos = Chaos(cluster, seed, seconds)
    try:
        cluster.run(chaos.main())
    except InvariantViolatedError:
        cluster.write_files()
    return cluster, digest_of(directory, chaos.answers), chaos


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--controllers", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        cluster, digest, chaos = run_chaos(
            arguments.seed, arguments.seconds, Path(directory), arguments.controllers
        )
        print(
            json.dumps(
                {
                    "digest": digest,
                    "violations": [str(violation) for violation in cluster.violations],
                    "answers": len(chaos.answers),
                    "ok": sum(answer.endswith(" 0") for answer in chaos.answers),
                    "events": cluster.events,
                    "simulated_s": cluster.simulated_ns / SECOND,
                }
            )
        )


if __name__ == "__main__":
    main()
