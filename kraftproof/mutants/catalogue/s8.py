"""S8: an answer overtakes the effects that the answer promises."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="S8",
    title="A Reply is sent before the effect in front of it",
    source="ours; contract 1 of node/core/effects.py",
    expected="OneVoteAnEpoch",
    edits=(
        Edit(
            module="kraftproof.node.shell.effect_executor",
            old="self._effects.extend(effects)",
            new="self._effects.extend(sorted(effects, key=lambda one: type(one) is not Reply))",
        ),
    ),
)
