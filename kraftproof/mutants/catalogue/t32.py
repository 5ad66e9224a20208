"""T32: the sweep of delegation tokens goes by the monotonic clock."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="T32",
    title="Expired delegation tokens are removed by the monotonic clock",
    source="ours; planted by somebody who had not seen the checks",
    expected="ExpiredTokensAreRemoved",
    edits=(
        Edit(
            module="kraftproof.node.core.controller.security.token_sweep",
            old="return expired_tokens(image, now.wall)",
            new="return expired_tokens(image, WallClock(now.monotonic))",
        ),
        Edit(
            module="kraftproof.node.core.controller.security.token_sweep",
            old="import Instant, Monotonic\n",
            new="import Instant, Monotonic, WallClock\n",
        ),
    ),
)
