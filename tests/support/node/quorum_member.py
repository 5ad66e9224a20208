"""A node of the test quorum with its played disk, and the messages between nodes.

Not: what happens to them (quorum_harness.py).
"""

from dataclasses import dataclass, field

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Exit
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft


@dataclass
class Disk:
    """What is written, and how much of it a crash of the machine leaves."""

    durable: QuorumState = field(default_factory=QuorumState)
    batches: list = field(default_factory=list)
    flushed: int = 0

    @property
    def end(self):
        return self.batches[-1].next_offset if self.batches else 0

    def cut(self, end_offset):
        self.batches = [batch for batch in self.batches if batch.next_offset <= end_offset]
        self.flushed = min(self.flushed, self.end)


@dataclass
class Message:
    """A request or an answer on its way."""

    source: int
    destination: int
    payload: object
    correlation: int
    version: int
    is_request: bool


@dataclass
class Member:
    """One node: its disk outlives its raft."""

    node_id: int
    config: NodeConfig
    disk: Disk
    raft: Raft | None = None
    outbox: Outbox | None = None
    flushes: list = field(default_factory=list)
    holds_flushes: bool = False
    sends: dict = field(default_factory=dict)
    requests: dict = field(default_factory=dict)
    starts: int = 0
    exit: Exit | None = None
    shown: tuple = ("", "high watermark 0")

    @property
    def is_up(self):
        return self.raft is not None


def deadline_of(member):
    if not member.is_up:
        return None
    deadlines = [*member.sends.values()]
    if (deadline := member.raft.deadline()) is not None:
        deadlines.append(deadline)
    return min(deadlines, default=None)


def role_deadline(member):
    """When this member stands, steps down or resigns, if nothing comes in between."""
    role = member.raft.role
    if member.raft.is_leader:
        contacts = sorted((r.contact for r in role.replicas.voters.values()), reverse=True)
        return contacts[(len(contacts) + 1) // 2 - 1] + member.config.timeouts.fetch_ns
    return role.election_deadline
