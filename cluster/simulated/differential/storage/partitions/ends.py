"""End a comparison of partitions: start once more, and lose a log directory."""

from typing import TYPE_CHECKING

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.storage.partitions.flushes import flush
from kraftproof.cluster.simulated.differential.storage.partitions.model import (
    HOMES,
    TOPIC,
    ModelLog,
)
from kraftproof.node.core.log_effects import CreateLog

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.storage.partitions.logs import PartitionRun


def end(run: "PartitionRun") -> None:
    """Start once more after a stop and after a crash, and let go of a directory."""
    run.start_again()
    run.compare_files()
    for log, model in run.models.items():
        flush(run, log, model)
    lost = sorted(run.logs.fail(HOMES["/d2"]))
    homes = sorted(log for log, home in run.homes.items() if home == "/d2")
    same("the logs of a failed directory", lost, [(log, TOPIC) for log in homes])
    same("the working directories", run.logs.paths, ("/d1",))
    found = [run.logs.directory_of(log) for log in homes]
    same("the directories of lost logs", found, [None] * len(homes))
    same("vital directories", [run.logs.is_vital(one) for one in HOMES.values()], [1, 0])
    run.disk.judge("/d2", 0)
    for log in homes:  # a replica that is placed anew, in a working directory
        run.logs.create(CreateLog(log=log, topic=TOPIC))
        run.homes[log], run.models[log] = "/d1", ModelLog(run.segment_bytes)
        run.append(log, run.models[log])
    run.compare_files()
    run.logs.close()
    run.disk.judge("", 0)
