"""The comparisons of brokers and of their partitions, each with its invariant."""

from typing import Final

from kraftproof.cluster.simulated.differential.brokers.creations import compare_creations
from kraftproof.cluster.simulated.differential.brokers.listings import compare_listings
from kraftproof.cluster.simulated.differential.brokers.memberships import compare_memberships
from kraftproof.cluster.simulated.differential.brokers.pages import compare_pages
from kraftproof.cluster.simulated.differential.brokers.shown_rights import compare_shown_rights
from kraftproof.cluster.simulated.differential.copies.catch_up import compare_catch_up
from kraftproof.cluster.simulated.differential.copies.fetch_requests import compare_fetch_requests
from kraftproof.cluster.simulated.differential.core.identities import compare_identities
from kraftproof.cluster.simulated.differential.data.parts import compare_parts
from kraftproof.cluster.simulated.differential.data.proposals import compare_proposals
from kraftproof.cluster.simulated.differential.door.doors import compare_doors
from kraftproof.cluster.simulated.differential.leaders.followers import compare_followers
from kraftproof.cluster.simulated.differential.leaders.housekeeping import compare_housekeeping
from kraftproof.cluster.simulated.differential.leaders.leaders import compare_leaders
from kraftproof.cluster.simulated.differential.leaders.throttled_clients import (
    compare_throttled_clients,
)
from kraftproof.cluster.simulated.differential.part import (
    BROKER,
    CONFIGS,
    DATA,
    LOGINS,
    PARTITION,
    QUOTAS,
    RIGHTS,
    Comparison,
)
from kraftproof.cluster.simulated.differential.placements.placements import compare_placements
from kraftproof.cluster.simulated.differential.placements.report_times import compare_report_times
from kraftproof.cluster.simulated.differential.rules.batches import compare_batches
from kraftproof.cluster.simulated.differential.rules.config_changes import compare_config_changes
from kraftproof.cluster.simulated.differential.rules.descriptions import compare_descriptions
from kraftproof.cluster.simulated.differential.rules.quota_answers import compare_quota_answers
from kraftproof.cluster.simulated.differential.rules.quotas import compare_quotas
from kraftproof.cluster.simulated.differential.rules.values import compare_values

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
PARTS: Final = "PartsMatchReference"
PARTS_STATEMENT: Final = (
    "Each part of a request has the answer that its right, its place and its leader demand."
)
THROTTLED: Final = "ThrottlingMatchesReference"
THROTTLED_STATEMENT: Final = (
    "A leader lets clients beyond their quotas of bytes wait, and no follower, as KIP-13 has it."
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

BROKERS: Final = (
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
        *(THROTTLED, THROTTLED_STATEMENT, (DATA,)),
        compare_throttled_clients,
        is_at_end=True,
    ),
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
    *(
        Comparison(PLACEMENTS, PLACEMENTS_STATEMENT, (PARTITION, DATA), compare, is_at_end=True)
        for compare in (compare_placements, compare_report_times)
    ),
)
"""In the order of a run that compares several."""
