"""Draw the comparisons of a run that has no planted bug: the cheap comparisons often.

A bug shows in one draw of a comparison of some ten or fifty, and a search for the bug has four to
twenty runs, by the speed of the machine. The draws cost a third of a run's CPU time.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.part import Comparison

RARE: Final = frozenset({"catch_up", "leases", "real_disk", "rulings"})
"""The comparisons that take more than 20 CPU milliseconds a draw; a run has one of these."""
_BELOW_1_MS: Final = frozenset(
    (
        *("connections", "core_tables", "creations", "described_entries", "headers", "identities"),
        *("mapping_rules", "partly_allowed", "quota_answers", "raw_batches", "registering"),
        *("report_times", "resource_errors", "sent_requests", "shell_directories"),
        *("shell_requests", "snapshot_times", "tables", "token_rights", "token_sweeps"),
        *("topic_creations", "values", "versions"),
        "envelopes",
    )
)
_BELOW_3_MS: Final = frozenset(
    (
        *("altered_configs", "busy_controllers", "client_logins", "config_changes"),
        *(
            "created_configs",
            "entry_decisions",
            "epoch_files",
            "failing_directories",
            "followers",
            "housekeeping",
        ),
        *("identity_files", "inherited_images", "judged_senders", "listeners", "listings"),
        *("logins", "memberships", "metadata_batches", "metered_changes", "offset_files", "pages"),
        "sessions",
        *("shown_rights", "snapshots", "throttled_clients", "tls_streams", "topic_deletions"),
        "whole_refusals",
    )
)
_BELOW_10_MS: Final = frozenset(
    (
        *("applied_steps", "batches", "descriptions", "doors", "fetching", "leaders", "messages"),
        *("metadata_logs", "node_storage", "partition_damage", "placements", "primitives"),
        *("quotas", "raw_records", "segments", "serving", "voting"),
        *("bounded_outputs", "partition_cuts"),
    )
)
DRAWS: Final = {
    **dict.fromkeys(_BELOW_1_MS, 12),
    **dict.fromkeys(_BELOW_3_MS, 6),
    **dict.fromkeys(_BELOW_10_MS, 4),
    **dict.fromkeys(("decisions", "parts"), 2),
}
"""Number of draws of a comparison that a run has; of any other comparison, 1."""


def name_of(one: Comparison) -> str:
    """Return the name of a comparison, as in the tables of draws."""
    return one.compare.__name__.removeprefix("compare_")


def drawn(comparisons: Sequence[Comparison], random: Random) -> list[tuple[int, Comparison]]:
    """Return the comparisons of a run, each with the number of its draw."""
    rare = [one for one in comparisons if name_of(one) in RARE]
    chosen = [one for one in comparisons if one not in rare]
    chosen += random.sample(rare, min(1, len(rare)))
    return [(number, one) for one in chosen for number in range(DRAWS.get(name_of(one), 1))]
