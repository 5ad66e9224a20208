"""An honest client beside the random requests: the cluster must still serve its topics."""

from collections.abc import Awaitable, Callable
from typing import Final

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.reference.requests.vocabulary import PREFIX
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    metadata_request,
    metadata_response,
)

Connect = Callable[[], Awaitable[Connection[Message]]]
ANSWER_TIMEOUT_NS: Final = 5_000_000_000
PAUSE_NS: Final = 100_000_000
CREATE_VERSION: Final = 7
DELETE_VERSION: Final = 6
METADATA_VERSION: Final = 12
NAME: Final = f"{PREFIX}-honest"
"""Topic of the honest client; random requests do not name the topic."""


async def first_complaint(connect: Connect, scope: Scope, patience_ns: int) -> str | None:
    """Create a topic, look at the topic and delete it; return a reason if that fails for long."""
    until_ns = scope.now() + patience_ns
    while True:
        try:
            connection = await connect()
            try:
                reason = await _first_refusal(connection)
            finally:
                connection.close()
        except (ConnectionFailed, OutcomeUnknown) as error:
            reason = str(error)
        if reason is None or scope.now() >= until_ns:
            return reason
        await scope.sleep(PAUSE_NS)


async def cluster_id_of(connect: Connect) -> str:
    """Return the id of a cluster, as a broker answers it.

    Raises:
        ConnectionFailed, OutcomeUnknown: no broker answers.
    """
    connection = await connect()
    request = metadata_request.MetadataRequest(topics=())
    answer = await connection.call(request, METADATA_VERSION, ANSWER_TIMEOUT_NS)
    connection.close()
    assert isinstance(answer, metadata_response.MetadataResponse), "the version says so"
    return answer.cluster_id or ""


async def _first_refusal(connection: Connection[Message]) -> str | None:
    topic = create_topics_request.CreatableTopic(name=NAME, num_partitions=1, replication_factor=1)
    create = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=4_000)
    created = await connection.call(create, CREATE_VERSION, ANSWER_TIMEOUT_NS)
    assert isinstance(created, create_topics_response.CreateTopicsResponse), "the key says so"
    error = created.topics[0].error_code
    if error not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
        return f"an honest CreateTopics is answered with error {error}"
    state = delete_topics_request.DeleteTopicState(name=NAME)
    delete = delete_topics_request.DeleteTopicsRequest(topics=(state,), timeout_ms=4_000)
    deleted = await connection.call(delete, DELETE_VERSION, ANSWER_TIMEOUT_NS)
    assert isinstance(deleted, delete_topics_response.DeleteTopicsResponse), "the key says so"
    error = deleted.responses[0].error_code
    if error != ErrorCode.NONE:
        return f"an honest DeleteTopics is answered with error {error}"
    return None
