"""B5: a snapshot forgets a kind of record."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B5",
    title="A snapshot omits a record type: features, as this node has no producer ids yet",
    source="KAFKA-13357 (e8b53caab47), KAFKA-15860 (209f268d6c3)",
    expected="SnapshotMatchesLog",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.snapshot",
            old="""    for name in sorted(image.features):
        if feature_key(name) not in image.others:
            yield records.FeatureLevelRecord(name=name, feature_level=image.features[name])
""",
            new="",
        ),
    ),
)
