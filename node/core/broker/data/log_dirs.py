"""Answer DescribeLogDirs: the log directories of this broker with their logs (KIP-113, KIP-827).

The shell adds the sizes of the volumes to the answer.
"""

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import ReplyWithVolumes
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_log_dirs_request, describe_log_dirs_response
from kraftproof.node.wire.types import Uuid

Request = describe_log_dirs_request.DescribeLogDirsRequest
Result = describe_log_dirs_response.DescribeLogDirsResult
Topic = describe_log_dirs_response.DescribeLogDirsTopic


class LogDirsService:
    """The DescribeLogDirs requests of a broker."""

    __slots__ = ("_config", "_outbox", "_replicas")

    def __init__(self, config: NodeConfig, replicas: Replicas, outbox: Outbox) -> None:
        self._config = config
        self._replicas = replicas
        self._outbox = outbox

    def receive(self, event: Received, request: Request) -> None:
        """Describe each directory of log.dirs; partitions without a replica here are left out."""
        wanted = None
        if request.topics is not None:
            wanted = {(each.topic, index) for each in request.topics for index in each.partitions}
        results = [
            self._directory(directory, path, wanted)
            for directory, path in zip(
                self._config.log_dirs, self._config.log_dir_paths, strict=False
            )
        ]
        results += [_failed(path) for path in self._config.failed_log_dirs]
        message = describe_log_dirs_response.DescribeLogDirsResponse(results=tuple(results))
        self._outbox.emit(ReplyWithVolumes(request=event.request, message=message))

    def _directory(self, directory: Uuid, path: str, wanted: set[tuple[str, int]] | None) -> Result:
        if directory not in self._replicas.directories.online:
            return _failed(path)
        topics: dict[str, list[Replica]] = {}
        for log in sorted(self._replicas.by_log):
            replica = self._replicas.by_log[log]
            is_wanted = wanted is None or (replica.topic, log.partition) in wanted
            if replica.directory == directory and is_wanted:
                topics.setdefault(replica.topic, []).append(replica)
        return Result(
            log_dir=path,
            topics=tuple(
                Topic(name=name, partitions=tuple(map(_partition, topics[name])))
                for name in sorted(topics)
            ),
        )


def _failed(path: str) -> Result:
    return Result(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path)


def _partition(replica: Replica) -> describe_log_dirs_response.DescribeLogDirsPartition:
    index = replica.index
    return describe_log_dirs_response.DescribeLogDirsPartition(
        partition_index=replica.log.partition,
        partition_size=index.bytes_between(index.start_offset, index.end_offset),
        offset_lag=max(index.high_watermark - index.end_offset, 0),
    )
