"""T17: ApiVersions names a last applied offset that is not applied yet."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T17",
    title="ApiVersions names the end of the applied metadata as the last applied offset",
    source="ours; KIP-584 (FinalizedFeaturesEpoch), a survivor of the generated mutants",
    expected="NodesIntroduceThemselves",
    edits=(
        Edit(
            module="kraftproof.node.core.broker.answers",
            old="finalized_features_epoch=offset - 1",
            new="finalized_features_epoch=offset",
        ),
    ),
)
