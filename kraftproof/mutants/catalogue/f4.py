"""F4: the directory of a replaced file is not synced."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F4",
    title="quorum-state is renamed without a sync of the directory: a crash brings back the vote",
    source="ours; the class of ALICE (Pillai et al. 2014)",
    expected="EpochsNeverFall",
    edits=(
        Edit(
            module="kraftproof.node.storage.filesystem",
            old="    filesystem.fsync_directory(parent(path))\n",
            new="",
        ),
    ),
)
