"""F2: a file is renamed before its data is synced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F2",
    title="quorum-state and the checkpoints replace the old file before their data is synced",
    source="ours; the class of ext4 delayed allocation and of ALICE (Pillai et al. 2014)",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.filesystem",
            old="        handle.write(data)\n        handle.start_fsync()()\n",
            new="        handle.write(data)\n",
        ),
    ),
)
