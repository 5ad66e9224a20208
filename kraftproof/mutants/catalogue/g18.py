"""G18: an orderly stop stores the end of the log as the high watermark."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="G18",
    title="An orderly stop stores the end of the log as the high watermark",
    source="ours; KIP-595 (high watermark)",
    expected="StateMachineSafety",
    edits=(
        Edit(
            module="kraftproof.node.storage.checkpoints",
            old="self._write(HIGH_WATERMARK, min(high_watermark, log_end))",
            new="self._write(HIGH_WATERMARK, log_end)",
        ),
    ),
)
