"""Runs a scenario file of whole nodes, with controllers, a broker, disks and snapshots.

# A comment stays as it is; the first says what the scenario is for.
> cluster 3+1 [every 10]   time passes until all is well; a snapshot every so many records
> create a 5               topics a-0 to a-4, through the broker;  > delete a-3
> kill 2;  > restart 2 [wiped]
> pause 1                  it stops where it is; what is sent to it waits
> resume 1 [asked a-0]     it goes on; before all that waits it is asked as by `ask`
> ask 1 a-0                would the controller 1 make this topic? its own answer
> ask 1 a-0 amid b-0       the same, while its record of the new topic b-0 is in flight
> register 9 as 1          the leader is asked to register a broker 9 in its first incarnation
> heartbeat 9 [fence] [stop]  with the epoch that 9 was given last, and what it wants
> flip 2                   one byte in the middle of 2's log on disk is another
> spoil 2                  the last topic in 2's log on disk is made a second time the first one
> disk 2 full|write|fsync|well   its disk fails from now on, in that way, or no more
> power 2                  it dies with its machine: what its disk had not synced is gone
> wait 1500
> status
A node may be named by its part: leader, follower (the first), broker; or `it`, the last named.
Shown are snapshots (written, installed, cleaned behind) and exits. Not: the simulator.
"""

from collections import deque

from msgspec.structs import replace

from kraftproof.node.core.effects import CleanLog, Exit, InstallSnapshot, Reply, WriteSnapshot
from kraftproof.node.core.events import Unanswered
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request, delete_topics_request
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.metadata import TopicRecord
from tests.node.core.controller.desk import heartbeat, registration
from tests.support.node.bad_disks import BadDisks, BadDiskWorld
from tests.support.node.scenario_harness import Scenario
from tests.support.node.snapshot_world import CLUSTER_ID, DATA

LOG = f"{DATA}/__cluster_metadata-0"


class PausingWorld(BadDiskWorld):
    """Nodes that can be stopped for a while with all that is on its way to them."""

    def __init__(self, *arguments, **options):
        self.paused, self.waiting = {}, deque()
        super().__init__(*arguments, **options)

    def ask(self, node_id, effect):
        """What is sent to a paused node waits there; who has sent it gives up."""
        if effect.destination not in self.paused:
            super().ask(node_id, effect)
            return
        self.events.append((node_id, Unanswered(correlation=effect.correlation)))
        self.request(effect.destination, effect.message, effect.version)
        self.waiting.append(self.events.pop())

    def pause(self, node_id):
        self.paused[node_id] = self.nodes.pop(node_id)
        for token, (asked, asker, correlation) in self.asked.items():
            if asked == node_id and asker is not None:
                self.asked[token] = (asked, None, 0)
                self.events.append((asker, Unanswered(correlation=correlation)))

    def resume(self, node_id):
        self.nodes[node_id] = self.paused.pop(node_id)
        self.events.extend(self.waiting)
        self.waiting.clear()


class WholeScenario(BadDisks, Scenario):
    """One file."""

    def __init__(self):
        super().__init__()
        self.world, self.it, self.epochs = None, None, {}

    def command(self, words):
        name, *arguments = words
        said = getattr(self, name)(arguments) or []
        return [*self.news(), *self.disk_news(), *said]

    def news(self):
        world, start = self.world, self.shown
        self.shown = len(world.effects)
        lines = (self.words(*each) for each in world.effects[start:])
        return [line for line in lines if line is not None]

    def words(self, node_id, effect):
        match effect:
            case WriteSnapshot():
                return f"{node_id}: write snapshot {named(effect.snapshot)}"
            case InstallSnapshot():
                return f"{node_id}: install snapshot {named(effect.snapshot)}"
            case CleanLog():
                return f"{node_id}: clean the log below {named(effect.start)}"
            case Exit():
                return f"{node_id}: exit {effect.status}: {effect.reason}"
        return None

    def node(self, word):
        world = self.world
        if word == "leader":
            self.it = world.leader()
        elif word == "follower":
            self.it = next(n for n in sorted(world.nodes) if n != world.leader())
        elif word == "broker":
            self.it = len(world.voters) + 1
        elif word != "it":
            self.it = int(word)
        return self.it

    def cluster(self, arguments):
        controllers, _, brokers = arguments[0].partition("+")
        records = int(arguments[2]) if len(arguments) > 1 else 10
        self.world = PausingWorld(int(controllers), int(brokers), records=records)
        self.world.run(8000)

    def create(self, arguments):
        for number in range(int(arguments[1])):
            self.request(creation(f"{arguments[0]}-{number}"), 7)

    def delete(self, arguments):
        state = delete_topics_request.DeleteTopicState(name=arguments[0])
        self.request(delete_topics_request.DeleteTopicsRequest(topics=(state,), timeout_ms=5000), 6)

    def request(self, message, version):
        broker = len(self.world.voters) + 1
        answer = self.world.answer(broker, message, version, by_ms=50)
        (result,) = getattr(answer, "topics", None) or answer.responses
        assert result.error_code == ErrorCode.NONE, ErrorCode(result.error_code).name

    def kill(self, arguments):
        self.world.kill(self.node(arguments[0]))

    def restart(self, arguments):
        node_id = self.node(arguments[0])
        try:
            self.world.start_again(node_id, wiped="wiped" in arguments)
        except StorageError as error:
            return [f"{node_id}: refuses to start: {error}"]
        return None

    def pause(self, arguments):
        self.world.pause(self.node(arguments[0]))

    def resume(self, arguments):
        node_id = self.node(arguments[0])
        if "asked" not in arguments:
            self.world.resume(node_id)
            return None
        token = self.world.request(node_id, creation(arguments[-1], validate_only=True), 7)
        self.world.resume(node_id)
        self.world.run(1000)
        return [f"{node_id}: {error_name(self.world, token)}"]

    def ask(self, arguments):
        node_id = self.node(arguments[0])
        if "amid" in arguments:
            return self.ask_amid(node_id, arguments[1], arguments[-1])
        token = self.world.request(node_id, creation(arguments[1], validate_only=True), 7)
        self.world.run(1000)
        return [f"{node_id}: {error_name(self.world, token)}"]

    def ask_amid(self, node_id, name, other):
        world = self.world
        world.run(0)
        world.request(node_id, creation(other), 7)
        world.step(*world.events.popleft())
        node = world.nodes[node_id]
        in_flight = node.status().log_end
        assert node.status().high_watermark < in_flight, "nothing is in flight"
        token = world.request(node_id, creation(name, validate_only=True), 7)
        while token in world.asked:
            world.step(*world.events.popleft())
        has_own = node.status().high_watermark > in_flight
        proof = "a record appended since" if has_own else "what was in flight"
        return [f"{node_id}: {error_name(world, token)}, once {proof} has committed"]

    def register(self, arguments):
        broker, incarnation = int(arguments[0]), int(arguments[2])
        request = registration(broker, incarnation, cluster=CLUSTER_ID)
        answer = self.world.answer(self.world.leader(), request, 0, by_ms=50)
        if answer.error_code != ErrorCode.NONE:
            return [f"{broker}: {ErrorCode(answer.error_code).name}"]
        self.epochs[broker] = answer.broker_epoch
        return [f"{broker}: registered"]

    def heartbeat(self, arguments):
        broker, *wishes = arguments
        assert set(wishes) <= {"fence", "stop"}, wishes
        request = heartbeat(
            int(broker),
            self.epochs[int(broker)],
            want_fence="fence" in wishes,
            want_shut_down="stop" in wishes,
        )
        answer = self.world.answer(self.world.leader(), request, 0, by_ms=50)
        if answer.error_code != ErrorCode.NONE:
            return [f"{broker}: {ErrorCode(answer.error_code).name}"]
        state = "fenced" if answer.is_fenced else "not fenced"
        return [f"{broker}: {state}, {'may' if answer.should_shut_down else 'may not'} stop"]

    def flip(self, arguments):
        path, data = self.log_of(arguments[0])
        data[len(data) // 2] ^= 1
        self.overwrite(path, bytes(data))

    def spoil(self, arguments):
        path, data = self.log_of(arguments[0])
        batches = [*decode_batches(bytes(data))]
        made = [n for n, batch in enumerate(batches) if isinstance(batch.records[0], TopicRecord)]
        batches[made[-1]] = replace(
            batches[made[-1]], records=batches[made[0]].records, received=None
        )
        self.overwrite(path, encode_batches(batches))

    def log_of(self, name):
        disk = self.world.disks[self.node(name)]
        path = f"{LOG}/{self.world.files(self.it, '.log')[0]}"
        return path, bytearray(disk.read(path))

    def overwrite(self, path, data):
        handle = self.world.disks[self.it].append_to(path)
        handle.truncate(0)
        handle.write(data)
        handle.start_fsync()()

    def wait(self, arguments):
        self.world.run(int(arguments[0]))

    def status(self, _arguments):
        world = self.world
        digests = [*dict.fromkeys(node.status().image_digest for node in world.nodes.values())]
        return [self.status_of_node(node_id, digests) for node_id in sorted(world.disks)]

    def status_of_node(self, node_id, digests):
        files = " ".join(
            name.removesuffix(".checkpoint").lstrip("0") for name in self.files(node_id)
        )
        if node_id not in self.world.nodes:
            return f"{node_id}: down, snapshots {files}"
        node = self.world.nodes[node_id]
        status, image = node.status(), node._committed.image
        letter = "ABCD"[digests.index(status.image_digest)]
        names = " ".join(topic.name for topic in image.sorted_topics())
        return (
            f"{node_id}: {status.role} log {node._raft.log.start_offset} to {status.log_end}"
            f" snapshots {files or 'none'} image {letter} at {status.image_offset}: {names}"
        )

    def files(self, node_id):
        return self.world.files(node_id)


def error_name(world, token):
    (answer,) = [e.message for _, e in world.effects if isinstance(e, Reply) and e.request == token]
    return ErrorCode(answer.topics[0].error_code).name


def named(snapshot):
    return f"{snapshot.end_offset}e{snapshot.epoch}"


def creation(name, *, validate_only=False):
    topic = create_topics_request.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return create_topics_request.CreateTopicsRequest(
        topics=(topic,), timeout_ms=5000, validate_only=validate_only
    )
