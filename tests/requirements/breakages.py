"""Edits of the node that break one requirement each, and the tests that must notice.

An edit is a mutant's (mutants/mutant.py). A row names the folder or file whose tests carry the
requirement; `broken.py` runs them with the edit in place.
"""

from dataclasses import dataclass

from kraftproof.mutants.mutant import Edit, Mutant


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """One way to break a requirement.

    Attributes:
        requirement: The id, such as 595-01.
        title: What the broken node does.
        tests: Where the tests lie that carry the requirement.
        edit: The edit that breaks the node.
    """

    requirement: str
    title: str
    tests: str
    edit: Edit

    @property
    def name(self) -> str:
        """Return the id and the title as one word, for pytest."""
        return f"{self.requirement}-{self.title.replace(' ', '_')}"

    @property
    def mutant(self) -> Mutant:
        """Return the edit as a mutant, which the import hook can install."""
        return Mutant(mutant_id=self.name, title=self.title, source="", edits=(self.edit,))


def breakage(requirement: str, title: str, tests: str, module: str, old: str, new: str) -> Breakage:
    """Return a row of the table."""
    edit = Edit(module=module, old=old, new=new)
    return Breakage(requirement=requirement, title=title, tests=tests, edit=edit)


RAFT, CONTROLLER = "tests/node/core/raft", "tests/node/core/controller"
BREAKAGES = (
    breakage(
        "595-09",
        "the leader counts records that it has not flushed",
        RAFT,
        "kraftproof.node.core.raft.progress",
        "majority_offset([state.flushed, *acknowledged])",
        "majority_offset([state.log.end_offset, *acknowledged])",
    ),
    breakage(
        "595-14",
        "the back-off is always the bound",
        RAFT,
        "kraftproof.node.core.raft.election_timing",
        "return random.randint(0, bound_ns)",
        "return bound_ns",
    ),
    breakage(
        "595-22",
        "a vote compares offsets only",
        RAFT,
        "kraftproof.node.core.raft.elections",
        "return (last_epoch, end_offset) >= (log.last_epoch, log.end_offset)",
        "return end_offset >= log.end_offset",
    ),
    breakage(
        "595-30",
        "a change is answered before the high watermark has passed it",
        CONTROLLER,
        "kraftproof.node.core.controller.active",
        "self._pending[0].offset < high_watermark",
        "self._pending[0].offset < self._raft.log.end_offset",
    ),
    breakage(
        "595-33",
        "BeginQuorumEpoch is never repeated",
        RAFT,
        "kraftproof.node.core.raft.announcements",
        "            state.role.announcement.retry_later(voter, state.timeouts, now.monotonic)",
        "            state.role.announcement.done(voter)",
    ),
    breakage(
        "595-33",
        "a Fetch does not endorse",
        RAFT,
        "kraftproof.node.core.raft.serving",
        "        role.announcement.done(fetch.replica_id)\n",
        "",
    ),
    breakage(
        "595-38",
        "EndQuorumEpoch with leader -1 is accepted",
        RAFT,
        "kraftproof.node.core.raft.announcements",
        "if leader in (NO_NODE, state.node_id):",
        "if leader == state.node_id:",
    ),
    breakage(
        "595-49",
        "a diverging log is not cut at its own end of the epoch",
        RAFT,
        "kraftproof.node.core.raft.fetching",
        "end_offset = Offset(min(diverging.end_offset, ours.end_offset))",
        "end_offset = Offset(min(diverging.end_offset, state.log.end_offset))",
    ),
    breakage(
        "595-57",
        "a connection stays open after a time-out",
        "tests/node/server/test_channel.py",
        "kraftproof.node.server.peer_transport",
        "        if self._transport is not None:\n            self._transport.abort()\n",
        "",
    ),
    breakage(
        "595-71",
        "the number of unknown voters is always 0",
        "tests/node/server/metrics/test_raft_metrics.py",
        "kraftproof.node.server.metrics.node_metrics",
        "return len({voter.node_id for voter in config.voters} - asked - {config.node_id})",
        "return 0 * len(asked)",
    ),
    breakage(
        "631-06",
        "a node asks the first of its voters only",
        "tests/node/core/test_node.py",
        "kraftproof.node.core.raft.state",
        "tuple(voter for voter in self.voters if voter != self.node_id)",
        "tuple(voter for voter in self.voters[:1] if voter != self.node_id)",
    ),
    breakage(
        "631-39",
        "a silent broker is never fenced",
        CONTROLLER,
        "kraftproof.node.core.controller.active",
        "if broker and is_over and not broker.fenced else ()",
        "if broker and is_over and broker.fenced else ()",
    ),
    breakage(
        "631-41",
        "a version drops a field of the registration",
        "tests/node/wire/test_wire.py",
        "kraftproof.node.wire.messages.generated.broker_registration_request",
        "    API_KEY: ClassVar[int] = 62\n",
        "    API_KEY: ClassVar[int] = 57\n",
    ),
    breakage(
        "631-104",
        "a metric of ZooKeeper sessions is reported",
        "tests/node/server/metrics/test_raft_metrics.py",
        "kraftproof.node.server.metrics.catalogue",
        '    Metric(f"{RAFT}current_epoch", "Epoch of the quorum", "KIP-595"),\n',
        '    Metric("kafka_server_session_expire_listener", "ZooKeeper", "KIP-631"),\n',
    ),
    breakage(
        "590-11",
        "a broker refuses the newest version of a request",
        "tests/node/core/broker/test_forwarding.py",
        "kraftproof.node.core.served",
        "(request.MIN_VERSION, request.MAX_VERSION))",
        "(request.MIN_VERSION, request.MAX_VERSION - (not on_controller_listener)))",
    ),
    breakage(
        "590-12",
        "success is told before the change has committed",
        "tests/node/core/test_changes.py",
        "kraftproof.node.core.controller.active",
        "self._pending[0].offset < high_watermark",
        "self._pending[0].offset < self._raft.log.end_offset",
    ),
)
