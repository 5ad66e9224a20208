"""Define requests of clients about partitions as rows: reassignments, elections, new partitions."""

from kraftproof.checkers.kraft.specification.rows import Row


class Reassignment(Row, frozen=True, kw_only=True, gc=False):
    """The wanted replicas of a partition; null cancels a reassignment."""

    partition_index: int
    replicas: tuple[int, ...] | None = None


class ReassignedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The reassignments of a topic."""

    name: str
    partitions: tuple[Reassignment, ...] = ()


class AlterPartitionReassignmentsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Reassignments to begin, replace or cancel."""

    topics: tuple[ReassignedTopic, ...] = ()
    allow_replication_factor_change: bool = True


class ReassignmentResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a partition."""

    partition_index: int
    error_code: int = 0


class ReassignedTopicResult(Row, frozen=True, kw_only=True, gc=False):
    """The results of a topic."""

    name: str
    partitions: tuple[ReassignmentResult, ...] = ()


class AlterPartitionReassignmentsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of AlterPartitionReassignments."""

    error_code: int = 0
    responses: tuple[ReassignedTopicResult, ...] = ()


class ListedTopic(Row, frozen=True, kw_only=True, gc=False):
    """Partitions whose reassignments are listed."""

    name: str
    partition_indexes: tuple[int, ...] = ()


class ListPartitionReassignmentsRequest(Row, frozen=True, kw_only=True, gc=False):
    """A question for the reassignments under way; null for those of all topics."""

    topics: tuple[ListedTopic, ...] | None = None


class Ongoing(Row, frozen=True, kw_only=True, gc=False):
    """A reassignment under way."""

    partition_index: int
    replicas: tuple[int, ...] = ()
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()


class OngoingTopic(Row, frozen=True, kw_only=True, gc=False):
    """The reassignments of a topic."""

    name: str
    partitions: tuple[Ongoing, ...] = ()


class ListPartitionReassignmentsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The reassignments under way."""

    error_code: int = 0
    topics: tuple[OngoingTopic, ...] = ()


class TopicPartitions(Row, frozen=True, kw_only=True, gc=False):
    """Partitions of a topic."""

    topic: str
    partitions: tuple[int, ...] = ()


class ElectLeadersRequest(Row, frozen=True, kw_only=True, gc=False):
    """Elections of leaders: 0 preferred, 1 unclean; null for all partitions that need one."""

    topic_partitions: tuple[TopicPartitions, ...] | None = None
    election_type: int = 0


class ElectionResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a partition."""

    partition_id: int
    error_code: int = 0


class ElectedTopic(Row, frozen=True, kw_only=True, gc=False):
    """The results of a topic."""

    topic: str
    partition_result: tuple[ElectionResult, ...] = ()


class ElectLeadersResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of ElectLeaders."""

    error_code: int = 0
    replica_election_results: tuple[ElectedTopic, ...] = ()


class NewAssignment(Row, frozen=True, kw_only=True, gc=False):
    """The replicas that a client assigns to a new partition."""

    broker_ids: tuple[int, ...] = ()


class GrownTopic(Row, frozen=True, kw_only=True, gc=False):
    """The wanted number of partitions of a topic."""

    name: str
    count: int = 0
    assignments: tuple[NewAssignment, ...] | None = None


class CreatePartitionsRequest(Row, frozen=True, kw_only=True, gc=False):
    """Partitions to add to topics."""

    topics: tuple[GrownTopic, ...] = ()
    validate_only: bool = False


class GrownTopicResult(Row, frozen=True, kw_only=True, gc=False):
    """The result of a topic."""

    name: str
    error_code: int = 0


class CreatePartitionsResponse(Row, frozen=True, kw_only=True, gc=False):
    """The results of CreatePartitions."""

    results: tuple[GrownTopicResult, ...] = ()
