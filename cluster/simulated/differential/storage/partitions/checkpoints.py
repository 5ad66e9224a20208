"""Write the checkpoint files of partitions, and compare the files with the models."""

from typing import TYPE_CHECKING, Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.storage.partitions.model import HOMES, TOPIC
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.log_effects import WriteCheckpoints
from kraftproof.node.wire.types import Uuid

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun
    from kraftproof.cluster.simulated.differential.storage.partitions.model import ModelLog

_UNKNOWN: Final = LogId(Uuid(b"\7" * 16), 3)


def checkpoint(run: "PartitionRun", log: LogId, model: "ModelLog") -> None:
    """Write the checkpoint files."""
    watermark = run.random.randint(model.start, model.end)
    effect = WriteCheckpoints(high_watermarks=((log, Offset(watermark)), (_UNKNOWN, Offset(1))))
    works = run.logs.write_checkpoints(effect)
    homes = [HOMES[path] for path in HOMES if path in run.homes.values()]
    same("directories with checkpoints", [directory for directory, _ in works], homes)
    model.high_watermark = watermark
    for one in run.models.values():
        one.flush_full()
        one.written_watermark = one.high_watermark
    for _, begin in works:
        for _ in begin():
            pass
    for path in [one for one in HOMES if HOMES[one] in homes]:
        text = run.disk.read(f"{path}/recovery-point-offset-checkpoint").decode()
        rows = [
            f"{TOPIC} {one.partition} {run.models[one].durable_end}"
            for one in sorted(run.models, key=lambda one: one.partition)
            if run.homes[one] == path
        ]
        same("the recovery points", text, "\n".join(("0", str(len(rows)), *rows, "")))
