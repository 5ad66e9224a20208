"""The comparisons of controllers, of logins and of the quorum, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.core.leases import compare_leases
from kraftproof.cluster.simulated.differential.core.partly_allowed import compare_partly_allowed
from kraftproof.cluster.simulated.differential.core.registering import compare_registering
from kraftproof.cluster.simulated.differential.core.topic_creations import compare_topic_creations
from kraftproof.cluster.simulated.differential.core.whole_refusals import compare_whole_refusals
from kraftproof.cluster.simulated.differential.logins.client_logins import compare_client_logins
from kraftproof.cluster.simulated.differential.logins.entry_decisions import (
    compare_entry_decisions,
)
from kraftproof.cluster.simulated.differential.logins.mapping import compare_mapping_rules
from kraftproof.cluster.simulated.differential.logins.server_logins import compare_logins
from kraftproof.cluster.simulated.differential.logins.token_rights import compare_token_rights
from kraftproof.cluster.simulated.differential.logins.token_sweeps import compare_token_sweeps
from kraftproof.cluster.simulated.differential.part import (
    CONTROLLER,
    LOGINS,
    RAFT,
    RIGHTS,
    Comparison,
)
from kraftproof.cluster.simulated.differential.quorum.fetching import compare_fetching
from kraftproof.cluster.simulated.differential.quorum.long_downloads import compare_long_downloads
from kraftproof.cluster.simulated.differential.quorum.serving import compare_serving
from kraftproof.cluster.simulated.differential.quorum.voting import compare_voting
from kraftproof.cluster.simulated.differential.rules.altered_configs import (
    compare_altered_configs,
)
from kraftproof.cluster.simulated.differential.rules.created_configs import (
    compare_created_configs,
)
from kraftproof.cluster.simulated.differential.rules.sessions import compare_sessions
from kraftproof.cluster.simulated.differential.rulings.applied_steps import (
    compare_applied_steps,
)
from kraftproof.cluster.simulated.differential.rulings.busy_controllers import (
    compare_busy_controllers,
)
from kraftproof.cluster.simulated.differential.rulings.described_entries import (
    compare_described_entries,
)
from kraftproof.cluster.simulated.differential.rulings.envelopes import compare_envelopes
from kraftproof.cluster.simulated.differential.rulings.inherited_images import (
    compare_inherited_images,
)
from kraftproof.cluster.simulated.differential.rulings.judged_senders import (
    compare_judged_senders,
)
from kraftproof.cluster.simulated.differential.rulings.lost_leaderships import (
    compare_lost_leaderships,
)
from kraftproof.cluster.simulated.differential.rulings.metered_changes import (
    compare_metered_changes,
)
from kraftproof.cluster.simulated.differential.rulings.resource_errors import (
    compare_resource_errors,
)
from kraftproof.cluster.simulated.differential.rulings.rulings import compare_rulings
from kraftproof.cluster.simulated.differential.rulings.sent_requests import compare_sent_requests
from kraftproof.cluster.simulated.differential.rulings.snapshot_times import (
    compare_snapshot_times,
)
from kraftproof.cluster.simulated.differential.rulings.topic_deletions import (
    compare_topic_deletions,
)

ALLOWED: Final = "PartsAreAllowedByEntries"
ALLOWED_STATEMENT: Final = (
    "Of a request that names several topics, those without a right are refused, and the others "
    "decided; each is answered."
)
RIGHTS_OF: Final = "EntriesDecideRights"
RIGHTS_STATEMENT: Final = (
    "Access control entries allow and deny by the rules of KIP-11, KIP-290 and KIP-679, also after "
    "other entries are gone."
)
REFUSALS: Final = "RefusalsMatchReference"
REFUSALS_STATEMENT: Final = (
    "A request that is refused as a whole is answered with the error where its clients look for it."
)
RULINGS: Final = "RulingsMatchReference"
RULINGS_STATEMENT: Final = (
    "A controller registers brokers, changes topics, judges, and answers in time by plain rules."
)
LEASES: Final = "LeasesMatchReference"
LEASES_STATEMENT: Final = (
    "A controller fences a broker a session after the arrival of its last heartbeat, and no broker "
    "before, however long a large change takes; it lets a broker stop when all have read its moves."
)
SWEEPS: Final = "ExpiredTokensAreRemoved"
SWEEPS_STATEMENT: Final = "Expired delegation tokens, and no others, are removed at intervals."
FETCHING: Final = "FetchingMatchesReference"
FETCHING_STATEMENT: Final = (
    "A replica of the metadata log asks for records, snapshots and the leader by the rules of "
    "KIP-595 and KIP-630, and uses the answers as they demand."
)
SERVING: Final = "ServingMatchesReference"
SERVING_STATEMENT: Final = (
    "A leader of the metadata log answers Fetch, FetchSnapshot and DescribeQuorum, commits, keeps "
    "snapshots and resigns by the rules of KIP-595 and KIP-630."
)
ELECTIONS: Final = "ElectionsMatchReference"
ELECTIONS_STATEMENT: Final = (
    "A voter votes, campaigns, opens an epoch, announces and ends it by the rules of KIP-595."
)
IDENTITIES: Final = "LoginsMatchReference"
IDENTITIES_STATEMENT: Final = (
    "Passwords, proofs, tokens and certificates make the principals and sessions that RFC 4616, "
    "RFC 5802 and KIP-48 demand."
)

CONTROLLERS: Final = (
    Comparison(
        *(ALLOWED, ALLOWED_STATEMENT, (*CONTROLLER, *RIGHTS)),
        compare_partly_allowed,
        is_at_end=True,
    ),
    Comparison(RIGHTS_OF, RIGHTS_STATEMENT, RIGHTS, compare_entry_decisions, is_at_end=True),
    Comparison(REFUSALS, REFUSALS_STATEMENT, CONTROLLER, compare_whole_refusals, is_at_end=True),
    *(
        Comparison(RULINGS, RULINGS_STATEMENT, CONTROLLER, compare, is_at_end=True)
        for compare in (
            compare_registering,
            compare_topic_creations,
            compare_topic_deletions,
            compare_metered_changes,
            compare_resource_errors,
            compare_busy_controllers,
            compare_created_configs,
            compare_altered_configs,
            compare_rulings,
            compare_applied_steps,
            compare_snapshot_times,
            compare_sent_requests,
            compare_judged_senders,
            compare_described_entries,
            compare_inherited_images,
            compare_lost_leaderships,
            compare_envelopes,
        )
    ),
    *(
        Comparison(LEASES, LEASES_STATEMENT, CONTROLLER, compare, is_at_end=True)
        for compare in (compare_leases, compare_sessions)
    ),
    Comparison(SWEEPS, SWEEPS_STATEMENT, CONTROLLER, compare_token_sweeps, is_at_end=True),
    *(
        Comparison(IDENTITIES, IDENTITIES_STATEMENT, LOGINS, compare, is_at_end=True)
        for compare in (
            *(compare_logins, compare_client_logins),
            *(compare_mapping_rules, compare_token_rights),
        )
    ),
    Comparison(FETCHING, FETCHING_STATEMENT, RAFT, compare_fetching, is_at_end=True),
    Comparison(SERVING, SERVING_STATEMENT, RAFT, compare_serving, is_at_end=True),
    Comparison(SERVING, SERVING_STATEMENT, RAFT, compare_long_downloads, is_at_end=True),
    Comparison(ELECTIONS, ELECTIONS_STATEMENT, RAFT, compare_voting, is_at_end=True),
)
"""In the order of a run that compares several."""
