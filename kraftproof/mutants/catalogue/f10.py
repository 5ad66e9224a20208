"""F10: a start keeps a log that ends before the newest snapshot."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F10",
    title="A start keeps a log that ends before the newest snapshot",
    source="ours",
    expected="LogsReachTheirSnapshots",
    edits=(
        Edit(
            module="kraftproof.node.storage.log",
            old="if (newest.epoch, newest.end_offset) > (last_epoch, self.end_offset):",
            new="if (newest.epoch, newest.end_offset) > (self.end_offset,):",
        ),
    ),
)
