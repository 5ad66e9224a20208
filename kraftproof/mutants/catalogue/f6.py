"""F6: a copied snapshot is installed without a sync of its name."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="F6",
    title="A copied snapshot gets its name without a sync of the directory, then the log is reset",
    source="ours; the class of ALICE (Pillai et al. 2014), KIP-630",
    expected="RecoversFromCrashes",
    edits=(
        Edit(
            module="kraftproof.node.storage.snapshots",
            old="""self._path(snapshot))
        self._filesystem.fsync_directory(self._directory)

    def _copy_path(""",
            new="""self._path(snapshot))

    def _copy_path(""",
        ),
        Edit(
            module="kraftproof.node.storage.segments.segmented_log",
            old="""        segment.close()
        self._filesystem.remove(segment.path)
        self._filesystem.fsync_directory(self._directory)
""",
            new="""        segment.close()
        self._filesystem.remove(segment.path)
""",
        ),
    ),
)
