"""The comparisons of a run, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.brokers.creations import compare_creations
from kraftproof.cluster.simulated.differential.brokers.listings import compare_listings
from kraftproof.cluster.simulated.differential.brokers.memberships import compare_memberships
from kraftproof.cluster.simulated.differential.brokers.pages import compare_pages
from kraftproof.cluster.simulated.differential.brokers.shown_rights import compare_shown_rights
from kraftproof.cluster.simulated.differential.copies.catch_up import compare_catch_up
from kraftproof.cluster.simulated.differential.copies.fetch_requests import (
    compare_fetch_requests,
)
from kraftproof.cluster.simulated.differential.core.identities import compare_identities
from kraftproof.cluster.simulated.differential.core.leases import compare_leases
from kraftproof.cluster.simulated.differential.core.partly_allowed import compare_partly_allowed
from kraftproof.cluster.simulated.differential.core.registering import compare_registering
from kraftproof.cluster.simulated.differential.core.tables import compare_core_tables
from kraftproof.cluster.simulated.differential.core.topic_creations import (
    compare_topic_creations,
)
from kraftproof.cluster.simulated.differential.core.versions import compare_versions
from kraftproof.cluster.simulated.differential.core.whole_refusals import compare_whole_refusals
from kraftproof.cluster.simulated.differential.data.parts import compare_parts
from kraftproof.cluster.simulated.differential.data.proposals import compare_proposals
from kraftproof.cluster.simulated.differential.door.doors import compare_doors
from kraftproof.cluster.simulated.differential.leaders.followers import compare_followers
from kraftproof.cluster.simulated.differential.leaders.housekeeping import compare_housekeeping
from kraftproof.cluster.simulated.differential.leaders.leaders import compare_leaders
from kraftproof.cluster.simulated.differential.logins.client_logins import compare_client_logins
from kraftproof.cluster.simulated.differential.logins.mapping import compare_mapping_rules
from kraftproof.cluster.simulated.differential.logins.server_logins import compare_logins
from kraftproof.cluster.simulated.differential.logins.token_rights import compare_token_rights
from kraftproof.cluster.simulated.differential.logins.token_sweeps import compare_token_sweeps
from kraftproof.cluster.simulated.differential.part import (
    BROKER,
    CONFIGS,
    CONTROLLER,
    DATA,
    LOGINS,
    PARTITION,
    QUOTAS,
    RAFT,
    RIGHTS,
    SERVER,
    SHELL,
    STORAGE,
    TABLES,
    WIRE,
    Comparison,
)
from kraftproof.cluster.simulated.differential.placements.placements import compare_placements
from kraftproof.cluster.simulated.differential.quorum.fetching import compare_fetching
from kraftproof.cluster.simulated.differential.quorum.serving import compare_serving
from kraftproof.cluster.simulated.differential.quorum.voting import compare_voting
from kraftproof.cluster.simulated.differential.rules.batches import compare_batches
from kraftproof.cluster.simulated.differential.rules.config_changes import compare_config_changes
from kraftproof.cluster.simulated.differential.rules.descriptions import compare_descriptions
from kraftproof.cluster.simulated.differential.rules.quota_answers import compare_quota_answers
from kraftproof.cluster.simulated.differential.rules.quotas import compare_quotas
from kraftproof.cluster.simulated.differential.rules.values import compare_values
from kraftproof.cluster.simulated.differential.rulings.decisions import decisions_with
from kraftproof.cluster.simulated.differential.rulings.topic_deletions import (
    compare_topic_deletions,
)
from kraftproof.cluster.simulated.differential.server.connections import compare_connections
from kraftproof.cluster.simulated.differential.server.listeners import compare_listeners
from kraftproof.cluster.simulated.differential.shell.directories import compare_shell_directories
from kraftproof.cluster.simulated.differential.shell.requests import compare_shell_requests
from kraftproof.cluster.simulated.differential.shell.steps import compare_shell
from kraftproof.cluster.simulated.differential.storage.epoch_files import compare_epoch_files
from kraftproof.cluster.simulated.differential.storage.identity_files import compare_identity_files
from kraftproof.cluster.simulated.differential.storage.metadata_logs import compare_metadata_logs
from kraftproof.cluster.simulated.differential.storage.node_storage import compare_node_storage
from kraftproof.cluster.simulated.differential.storage.offset_files import compare_offset_files
from kraftproof.cluster.simulated.differential.storage.partitions.damage import (
    compare_partition_damage,
)
from kraftproof.cluster.simulated.differential.storage.partitions.logs import compare_partition_logs
from kraftproof.cluster.simulated.differential.storage.real_disk import compare_real_disk
from kraftproof.cluster.simulated.differential.storage.segments import compare_segments
from kraftproof.cluster.simulated.differential.storage.snapshots import compare_snapshots
from kraftproof.cluster.simulated.differential.wire.headers import compare_headers
from kraftproof.cluster.simulated.differential.wire.messages import compare_messages
from kraftproof.cluster.simulated.differential.wire.metadata_batches import compare_metadata_batches
from kraftproof.cluster.simulated.differential.wire.primitives import compare_primitives
from kraftproof.cluster.simulated.differential.wire.raw_batches import compare_raw_batches
from kraftproof.cluster.simulated.differential.wire.raw_records import compare_raw_records
from kraftproof.cluster.simulated.differential.wire.tables import compare_tables
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification

MESSAGES: Final = "WireMatchesReference"
MESSAGES_STATEMENT: Final = "Bytes of messages are written, read and refused as by a reference."
BATCHES: Final = "BatchesMatchReference"
BATCHES_STATEMENT: Final = "Batches of records are written, read and refused as by a reference."
FILES: Final = "FilesMatchReference"
FILES_STATEMENT: Final = "Files are written, read, refused and recovered as by a reference."
EFFECTS: Final = "ShellKeepsContract"
EFFECTS_STATEMENT: Final = "The shell carries out effects in order, once, and waits where it must."
KAFKA: Final = "TablesMatchKafka"
KAFKA_STATEMENT: Final = "Defaults, keys, versions and levels of features are those of Kafka."
CONNECTIONS: Final = "ConnectionsKeepTheirRules"
CONNECTIONS_STATEMENT: Final = (
    "Requests on a connection are taken and answered in order, within bounds and throttle times, "
    "and a listener ends a connection for a reason only."
)
LISTINGS: Final = "ListingsMatchReference"
LISTINGS_STATEMENT: Final = (
    "While a cluster changes, a broker lists brokers and topics as a plain model of it would."
)
INTRODUCTIONS: Final = "NodesIntroduceThemselves"
INTRODUCTIONS_STATEMENT: Final = (
    "A node names its versions, its features and its cluster as Kafka's tables have them."
)
MEMBERSHIPS: Final = "MembershipsMatchReference"
MEMBERSHIPS_STATEMENT: Final = (
    "A broker registers, sends heartbeats, opens its listeners and ends by the rules of KIP-631."
)
DOORS: Final = "BrokersMatchReference"
DOORS_STATEMENT: Final = (
    "A broker answers, forwards, holds or refuses each request of a client as plain rules have it."
)
LEADERS: Final = "LeadersMatchReference"
LEADERS_STATEMENT: Final = "A leader answers each request as a plain list of batches would."
LOGS_KEPT: Final = "LogsAreKeptByTheirRules"
LOGS_KEPT_STATEMENT: Final = (
    "A broker removes old records and producers, and writes checkpoints, at the times and by the "
    "clocks of Kafka."
)
DECISIONS: Final = "DecisionsConform"
DECISIONS_STATEMENT: Final = (
    "A controller decides each request as the specification allows, and the images agree."
)
PARTS: Final = "PartsMatchReference"
PARTS_STATEMENT: Final = (
    "Each part of a request has the answer that its right, its place and its leader demand."
)
PROPOSALS: Final = "ProposalsMatchReference"
PROPOSALS_STATEMENT: Final = (
    "A leader proposes ISRs, and raises the high watermark, as the rules of KIP-497 have it."
)
RULES: Final = "RulesMatchReference"
RULES_STATEMENT: Final = (
    "Quotas, configurations and produced batches are judged as by rules stated apart."
)
COPIES: Final = "CopiesMatchReference"
COPIES_STATEMENT: Final = "A follower's log changes as a plain list of batches would."
CATCH_UP: Final = "FollowersReachTheirLeader"
CATCH_UP_STATEMENT: Final = (
    "A follower uses answers to its present state only, and reaches the log of an answering leader."
)
FETCHES: Final = "FollowersMatchReference"
FETCHES_STATEMENT: Final = (
    "A broker fetches each partition that it follows with the right fields at the right time."
)
PLACEMENTS: Final = "ReplicasFollowTheImage"
PLACEMENTS_STATEMENT: Final = (
    "A broker has the replicas that the image places there, each in the right directory and with "
    "segments of its topic's size, and tells the controller until the image names the directory."
)
ALLOWED: Final = "PartsAreAllowedByEntries"
ALLOWED_STATEMENT: Final = (
    "Of a request that names several topics, those without a right are refused, and the others "
    "decided; each is answered."
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
    "before, however long a large change takes."
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

COMPARISONS: Final = (
    Comparison(KAFKA, KAFKA_STATEMENT, TABLES, compare_core_tables),
    Comparison(KAFKA, KAFKA_STATEMENT, TABLES, compare_versions),
    *(
        Comparison(MESSAGES, MESSAGES_STATEMENT, (WIRE,), compare)
        for compare in (compare_tables, compare_primitives, compare_headers, compare_messages)
    ),
    *(
        Comparison(BATCHES, BATCHES_STATEMENT, (WIRE,), compare)
        for compare in (compare_metadata_batches, compare_raw_batches, compare_raw_records)
    ),
    *(
        Comparison(FILES, FILES_STATEMENT, (STORAGE,), compare)
        for compare in (
            compare_identity_files,
            compare_offset_files,
            compare_epoch_files,
            compare_real_disk,
            compare_metadata_logs,
            compare_snapshots,
            compare_node_storage,
            compare_partition_logs,
            compare_partition_damage,
            compare_segments,
        )
    ),
    *(
        Comparison(EFFECTS, EFFECTS_STATEMENT, (SHELL,), compare)
        for compare in (compare_shell, compare_shell_requests, compare_shell_directories)
    ),
    *(
        Comparison(CONNECTIONS, CONNECTIONS_STATEMENT, (SERVER,), compare)
        for compare in (compare_connections, compare_listeners)
    ),
    *(
        Comparison(LISTINGS, LISTINGS_STATEMENT, (BROKER,), compare)
        for compare in (compare_listings, compare_pages)
    ),
    Comparison(INTRODUCTIONS, INTRODUCTIONS_STATEMENT, (BROKER,), compare_identities),
    Comparison(MEMBERSHIPS, MEMBERSHIPS_STATEMENT, (BROKER,), compare_memberships, is_at_end=True),
    Comparison(DOORS, DOORS_STATEMENT, (BROKER,), compare_doors, is_at_end=True),
    Comparison(LEADERS, LEADERS_STATEMENT, (PARTITION, DATA), compare_leaders, is_at_end=True),
    Comparison(
        LOGS_KEPT, LOGS_KEPT_STATEMENT, (PARTITION, DATA), compare_housekeeping, is_at_end=True
    ),
    Comparison(PARTS, PARTS_STATEMENT, (PARTITION, DATA, *RIGHTS), compare_parts, is_at_end=True),
    Comparison(
        PROPOSALS, PROPOSALS_STATEMENT, (PARTITION, DATA), compare_proposals, is_at_end=True
    ),
    *(
        Comparison(RULES, RULES_STATEMENT, packages, compare, is_at_end=True)
        for packages, compare in (
            ((QUOTAS,), compare_quotas),
            ((CONFIGS,), compare_values),
            ((CONFIGS, BROKER), compare_descriptions),
            ((CONFIGS, BROKER), compare_config_changes),
            ((BROKER,), compare_creations),
            ((BROKER,), compare_quota_answers),
            ((BROKER, *LOGINS), compare_shown_rights),
            ((PARTITION,), compare_batches),
        )
    ),
    Comparison(COPIES, COPIES_STATEMENT, (PARTITION, DATA), compare_followers, is_at_end=True),
    Comparison(CATCH_UP, CATCH_UP_STATEMENT, (PARTITION, DATA), compare_catch_up, is_at_end=True),
    Comparison(FETCHES, FETCHES_STATEMENT, (PARTITION,), compare_fetch_requests, is_at_end=True),
    Comparison(
        PLACEMENTS, PLACEMENTS_STATEMENT, (PARTITION, DATA), compare_placements, is_at_end=True
    ),
    Comparison(
        *(ALLOWED, ALLOWED_STATEMENT, (*CONTROLLER, *RIGHTS)),
        compare_partly_allowed,
        is_at_end=True,
    ),
    Comparison(REFUSALS, REFUSALS_STATEMENT, CONTROLLER, compare_whole_refusals, is_at_end=True),
    *(
        Comparison(RULINGS, RULINGS_STATEMENT, CONTROLLER, compare, is_at_end=True)
        for compare in (compare_registering, compare_topic_creations, compare_topic_deletions)
    ),
    Comparison(LEASES, LEASES_STATEMENT, CONTROLLER, compare_leases, is_at_end=True),
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
    Comparison(ELECTIONS, ELECTIONS_STATEMENT, RAFT, compare_voting, is_at_end=True),
)


def comparisons_with(make_specification: MakeSpecification | None) -> tuple[Comparison, ...]:
    """Return every comparison; only a specification judges the decisions of a controller."""
    if make_specification is None:
        return COMPARISONS
    compare = decisions_with(make_specification)
    return (*COMPARISONS, Comparison(DECISIONS, DECISIONS_STATEMENT, CONTROLLER, compare))
