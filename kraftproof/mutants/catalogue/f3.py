"""F3: what a failed fsync left readable counts as durable."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F3",
    title="A start takes what it can read for durable, also after a failed fsync",
    source="ours; the class of PostgreSQL's fsyncgate",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.log",
            old="            self._segments[-1].write_again()\n",
            new="            self._segments[-1].start_fsync()()\n",
        ),
    ),
)
