"""Add the sizes of volumes to an answer about log directories (KIP-827)."""

from msgspec.structs import replace

from kraftproof.node.core.effects import Reply
from kraftproof.node.core.log_effects import ReplyWithVolumes
from kraftproof.node.shell.partition_port import PartitionDisk
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.describe_log_dirs_response import (
    DescribeLogDirsResult,
)


def answer_with_volumes(disk: PartitionDisk, effect: ReplyWithVolumes) -> Reply:
    """Return the answer to a DescribeLogDirs; an unreadable volume is an error of its directory."""
    results = tuple(_with_volume(disk, result) for result in effect.message.results)
    return Reply(request=effect.request, message=replace(effect.message, results=results))


def _with_volume(disk: PartitionDisk, result: DescribeLogDirsResult) -> DescribeLogDirsResult:
    if result.error_code != ErrorCode.NONE:
        return result
    try:
        total, usable = disk.volume(result.log_dir)
    except OSError:
        return replace(result, error_code=ErrorCode.KAFKA_STORAGE_ERROR, topics=())
    return replace(result, total_bytes=total, usable_bytes=usable)
