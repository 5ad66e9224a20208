"""Runs a scenario file: commands after `>`, each followed by all that happened.

# A comment stays as it is; the first says what the scenario is for.
> cluster 3 [observers 1] [of-another 3=id]
> timeout 1           time passes up to 1's role deadline, and only 1 gets a tick
> tick 1              the same up to the first thing that 1 waits for, whatever it is
> deliver [1 2]       fsyncs end and messages arrive, until nothing moves [from 1 to 2 only]
> flush 1             one fsync of 1 ends;  > hold-flush 1 / > release-flush 1
> drop 1 2            what 1 has sent to 2 is lost, and 1 learns so
> hold 1 2            what 1 has sent to 2 is late, until > release 1 2
> propose 1 a         1 appends a record named a, if it leads
> partition 1 | 2 3   links between the two sides are cut;  > heal
> crash 1 [lose-unflushed | lose-all];  > restart 1;  > stop 1 (SIGTERM)
> wait 1500           that many ms pass, with all ticks; only the end state is shown
> vote 1 by 2 epoch 5 log 3e2 [cluster other] [voter 3]
> begin 1 by 2 epoch 5;  > end 1 by 2 epoch 5 (1 is to stand at once)
> describe 1          1 is asked DescribeQuorum
> status
"""

from msgspec.structs import replace

from kraftproof.node.wire.messages import (
    begin_quorum_epoch_request,
    describe_quorum_request,
    end_quorum_epoch_request,
    vote_request,
)
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import Disk, role_deadline
from tests.support.node.scenario_words import effect_words


class Scenario:
    def __init__(self):
        self.quorum = None
        self.shown = 0
        self.late = []

    def run(self, text):
        """The text as it should read: commands and comments kept, what happened after each."""
        lines = []
        for line in text.splitlines():
            if line.startswith("#"):
                lines.append(line)
            elif line.startswith(">"):
                if lines:
                    lines.append("")
                lines.append(line)
                lines += self.command(line[1:].split()) or ["(nothing)"]
        return "\n".join(lines) + "\n"

    def command(self, words):
        name, *arguments = words
        if name == "cluster":
            self.cluster(arguments)
        else:
            said = getattr(self, name.replace("-", "_"))(arguments)
            if said is not None:
                self.shown = len(self.quorum.trace)
                return said
        return self.news()

    def news(self):
        trace, start = self.quorum.trace, self.shown
        self.shown = len(trace)
        return [f"{node}: {effect_words(what, self.quorum.hears)}" for node, what in trace[start:]]

    def cluster(self, arguments):
        voters = int(arguments[0])
        observers, ids = 0, {}
        rest = arguments[1:]
        while rest:
            word, value, *rest = rest
            if word == "observers":
                observers = int(value)
            else:
                node, other = value.split("=")
                ids[int(node)] = other
        self.quorum = Quorum(voters, observers, cluster_ids=ids)
        for node_id in self.quorum.members:
            self.quorum.start(node_id)

    def timeout(self, arguments):
        node_id = int(arguments[0])
        self.quorum.now = max(self.quorum.now, role_deadline(self.quorum.members[node_id]))
        self.quorum.tick(node_id)

    def tick(self, arguments):
        member = self.quorum.members[int(arguments[0])]
        self.quorum.now = max(self.quorum.now, member.raft.deadline())
        self.quorum.tick(member.node_id)

    def deliver(self, arguments):
        if not arguments:
            self.quorum.quiesce()
            return
        source, destination = map(int, arguments)
        chosen = [
            m for m in self.quorum.messages if (m.source, m.destination) == (source, destination)
        ]
        for message in chosen:
            self.quorum.messages.remove(message)
            self.quorum.deliver_one(message)

    def flush(self, arguments):
        self.quorum.flush(int(arguments[0]))

    def hold_flush(self, arguments):
        self.quorum.members[int(arguments[0])].holds_flushes = True

    def release_flush(self, arguments):
        self.quorum.members[int(arguments[0])].holds_flushes = False

    def drop(self, arguments):
        source, destination = map(int, arguments)
        for message in list(self.quorum.messages):
            if (message.source, message.destination) == (source, destination):
                self.quorum.messages.remove(message)
                self.quorum.lose(message)

    def hold(self, arguments):
        link = tuple(map(int, arguments))
        messages = self.quorum.messages
        self.late += [m for m in messages if (m.source, m.destination) == link]
        self.quorum.messages = [m for m in messages if (m.source, m.destination) != link]

    def release(self, arguments):
        link = tuple(map(int, arguments))
        self.quorum.messages += [m for m in self.late if (m.source, m.destination) == link]
        self.late = [m for m in self.late if (m.source, m.destination) != link]

    def propose(self, arguments):
        self.quorum.propose(int(arguments[0]), arguments[1])

    def partition(self, arguments):
        divide = arguments.index("|")
        left = [int(node) for node in arguments[:divide]]
        right = [int(node) for node in arguments[divide + 1 :]]
        self.quorum.cut |= {(a, b) for a in left for b in right}
        self.quorum.cut |= {(b, a) for a in left for b in right}

    def heal(self, _arguments):
        self.quorum.cut = set()

    def crash(self, arguments):
        node_id = int(arguments[0])
        self.quorum.crash(node_id, lose_unflushed="lose-unflushed" in arguments)
        if "lose-all" in arguments:
            self.quorum.members[node_id].disk = Disk()

    def restart(self, arguments):
        self.quorum.start(int(arguments[0]))

    def stop(self, arguments):
        node_id = int(arguments[0])
        self.quorum.do(node_id, lambda raft: raft.stop(self.quorum.instant))

    def wait(self, arguments):
        """Let all happen that happens in that many milliseconds."""
        self.quorum.advance(int(arguments[0]) * 1_000_000)
        return self.status([])

    def vote(self, arguments):
        node_id = int(arguments[0])
        options = dict(zip(arguments[1::2], arguments[2::2], strict=True))
        offset, _, epoch = options["log"].partition("e")
        partition = vote_request.PartitionData(
            replica_id=int(options["by"]),
            replica_epoch=int(options["epoch"]),
            last_offset=int(offset),
            last_offset_epoch=int(epoch),
        )
        topic = vote_request.TopicData(topic_name="__cluster_metadata", partitions=(partition,))
        request = vote_request.VoteRequest(cluster_id=options.get("cluster"), topics=(topic,))
        if "voter" in options:
            request = replace(request, voter_id=int(options["voter"]))
        self.quorum.request(node_id, request, 1)

    def begin(self, arguments):
        options = dict(zip(arguments[1::2], arguments[2::2], strict=True))
        partition = begin_quorum_epoch_request.PartitionData(
            leader_id=int(options["by"]), leader_epoch=int(options["epoch"])
        )
        topic = begin_quorum_epoch_request.TopicData(
            topic_name="__cluster_metadata", partitions=(partition,)
        )
        request = begin_quorum_epoch_request.BeginQuorumEpochRequest(topics=(topic,))
        self.quorum.request(int(arguments[0]), request, 1)

    def end(self, arguments):
        options = dict(zip(arguments[1::2], arguments[2::2], strict=True))
        successor = end_quorum_epoch_request.ReplicaInfo(candidate_id=int(arguments[0]))
        partition = end_quorum_epoch_request.PartitionData(
            leader_id=int(options["by"]),
            leader_epoch=int(options["epoch"]),
            preferred_candidates=(successor,),
        )
        topic = end_quorum_epoch_request.TopicData(
            topic_name="__cluster_metadata", partitions=(partition,)
        )
        request = end_quorum_epoch_request.EndQuorumEpochRequest(topics=(topic,))
        self.quorum.request(int(arguments[0]), request, 1)

    def describe(self, arguments):
        partition = describe_quorum_request.PartitionData(partition_index=0)
        topic = describe_quorum_request.TopicData(
            topic_name="__cluster_metadata", partitions=(partition,)
        )
        request = describe_quorum_request.DescribeQuorumRequest(topics=(topic,))
        self.quorum.request(int(arguments[0]), request, 0)

    def status(self, _arguments):
        return [self.status_of(member) for member in self.quorum.members.values()]

    def status_of(self, member):
        if not member.is_up:
            return f"{member.node_id}: down, disk to {member.disk.flushed} of {member.disk.end}"
        raft = member.raft
        return (
            f"{member.node_id}: {raft.role.name} epoch {raft.epoch} leader {raft.leader}"
            f" log {raft.log.end_offset}e{raft.log.last_epoch} flushed {raft.flushed}"
            f" high watermark {raft.high_watermark}"
        )
