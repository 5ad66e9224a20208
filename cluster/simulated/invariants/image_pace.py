"""The invariants of the pace of an image: a step applies what has committed, up to a bound."""

from typing import Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import LEADER, Invariant, ProcessView
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.records.metadata import RemoveTopicRecord

FEW_RECORDS: Final = 100
"""Number of records that one step applies in any case; a node may split larger work."""

RECORDS_A_STEP: Final = 500
"""Number of records of a batch that one step may apply at most."""


class ImagesFollowAtOnce(Invariant):
    """Few committed records are in the image at the end of the step that learns the commit.

    The removal of a topic may be large work, whatever the number of records.
    """

    statement = (
        "A step applies every committed record, unless more than 100 records or a removed topic "
        "are to be applied."
    )

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or after.image_offset >= after.high_watermark:
            return
        start, records_left = before.image_offset, FEW_RECORDS
        if process.log.start.end_offset > start:
            return  # the records before the log are in a snapshot
        for batch in process.log.between(start, after.high_watermark):
            records_left -= len(batch.records)
            if records_left < 0 or RemoveTopicRecord in map(type, batch.records):
                return
        self.monitor.report_violation(
            self,
            process,
            f"the image is at offset {after.image_offset}, {after.high_watermark} has committed",
        )


class LargeBatchesTakeSteps(Invariant):
    """A replica applies a large batch in several steps, so that no step is long.

    The active controller has applied its own batches before their commit.
    """

    statement = (
        f"A replica applies a batch of more than {RECORDS_A_STEP} records in more than the step "
        "that learns the commit."
    )

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or after.high_watermark - before.high_watermark <= RECORDS_A_STEP:
            return
        if LEADER in {before.role, after.role}:
            return
        for batch in process.log.between(before.high_watermark, after.high_watermark):
            is_applied = before.image_offset < batch.next_offset <= after.image_offset
            if is_applied and len(batch.records) > RECORDS_A_STEP:
                detail = f"a step has applied the {len(batch.records)} records"
                self.monitor.report_violation(
                    self, process, f"{detail} of the batch at offset {batch.base_offset}"
                )
