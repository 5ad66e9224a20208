"""T20: a controller deletes topics although the client's time-out is 0."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T20",
    title="DeleteTopics with the time-out 0 deletes topics",
    source="ours; of the kind of survivors of the generated mutants",
    expected="RulingsMatchReference",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.topics",
            old="    if request.timeout_ms <= 0:\n        return Outcome(reply=refusal(",
            new="    if request.timeout_ms < 0:\n        return Outcome(reply=refusal(",
        ),
    ),
)
