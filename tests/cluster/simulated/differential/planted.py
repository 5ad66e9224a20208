"""Bugs that are planted one by one: the comparison, the owner, the attribute, the bug."""

from typing import Any

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.brokers import shown_rights
from kraftproof.cluster.simulated.differential.core import (
    required_rights,
    versions,
    whole_refusals,
)
from kraftproof.cluster.simulated.differential.core import tables as core_tables
from kraftproof.node.core import audit, gate, own_answers
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.directory_ids import LOST
from kraftproof.node.core.broker import (
    answers,
    auto_creation,
    broker,
    configs,
    controller_versions,
    forwarding,
    membership,
    metadata,
    quota_answers,
    topic_pages,
)
from kraftproof.node.core.broker.auto_creation import AutoCreator
from kraftproof.node.core.broker.data import (
    fetch,
    list_offsets,
    produce,
    produce_answer,
    retention,
)
from kraftproof.node.core.broker.data.data_plane import DataPlane
from kraftproof.node.core.broker.data.directory_assignments import DirectoryAssignments
from kraftproof.node.core.broker.data.retention import Housekeeping
from kraftproof.node.core.broker.membership import Membership
from kraftproof.node.core.broker.security import answers as security_answers
from kraftproof.node.core.configs.resources import Resource
from kraftproof.node.core.controller import active, authorized, brokers, timed_request, topics
from kraftproof.node.core.controller import quotas as controller_quotas
from kraftproof.node.core.controller.active import ActiveController
from kraftproof.node.core.controller.barrier import ReadBarrier
from kraftproof.node.core.controller.partitions import creation, elections
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.controller.security import acls, token_sweep
from kraftproof.node.core.controller.security.token_sweep import TokenSweep
from kraftproof.node.core.controller.sessions import Sessions
from kraftproof.node.core.metadata import apply, committed, snapshot, version
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition import fetcher, log_directories, replicas
from kraftproof.node.core.partition.epoch_cache import EpochCache
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.log_directories import LogDirectories
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.offset_search import OffsetSearch
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.progress import FollowerProgress
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.raft import fetch_rpc, progress, serving
from kraftproof.node.core.raft.elections import Elections
from kraftproof.node.core.raft.fetching import Fetcher
from kraftproof.node.core.raft.peer_retries import PeerRetries
from kraftproof.node.core.raft.serving import FetchServer
from kraftproof.node.core.raft.snapshots import keeping
from kraftproof.node.core.raft.snapshots.download import SnapshotFetcher
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.core.security import describe, mapping_rules, sasl_state, tokens
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.core.security.scram import ScramClientLogin
from kraftproof.node.core.snapshots import Snapshots
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from tests.cluster.simulated.differential import (
    planted_limits,
    planted_outside,
    planted_properties,
    planted_states,
)
from tests.cluster.simulated.differential.planted_outside import ignored as _ignored


def _of_topic_alone(before, image, topic_id, _):
    """Overlook a change of the configurations of brokers."""
    own = (Resource.TOPIC, image.topics[topic_id].name)
    return before is None or before.configs.get(own) != image.configs.get(own)


def _elsewhere(request: Message, error: ErrorCode, reason: str | None = None) -> Message:
    """Refuse a request with another error."""
    return refusal(request, ErrorCode.NONE if error else ErrorCode.INVALID_REQUEST, reason)


def _kept_view(answers: Any, image: Any, event: Any) -> Any:
    """Keep the answers of a broker to Metadata over a change of brokers."""
    answers._brokers = image.brokers
    return _VIEW(answers, image, event)


def _left_offline(owner: Any, log: Any) -> None:
    """Keep a replica offline that has left the broker, so that the replica can't return."""
    directory = owner.offline.get(log)
    _REMOVE(owner, log)
    if directory is not None:
        owner.offline[log] = directory


def _start_with_newer_records(progress: Any, offset: Any, start: Any, *others: Any) -> None:
    """Take the start of a follower's log only with newer records."""
    start = start if offset != progress.end_offset else progress.start_offset
    _RECORD_FETCH(progress, offset, start, *others)


def _told_once(assignments: Any, log: Any) -> bool:
    """Report a replica again only after the image has had its directory."""
    return log not in assignments._confirmed


def _at_any_epoch(assignments: Any, log: Any) -> Any:
    """Overlook that the image has changed a partition since the report."""
    return _ASSIGNMENT(assignments, log)._replace(partition_epoch=0)


def _with_authorizer(image: Any, request: Any, *, has_authorizer: bool) -> Any:
    """Describe entries without an authorizer, and refuse to with an authorizer."""
    return _DESCRIBE_ACLS(image, request, has_authorizer=not has_authorizer)


def _one_read(service: Any, fetch: Any, reads: Any, now: Any) -> None:
    """Answer a Fetch with the records of the first partition that has records."""
    full = [one for one in reads if one.size]
    _ANSWER_FETCH(service, fetch, [one for one in reads if one not in full[1:]], now)


def _without_time(*parts: Any) -> Any:
    """Leave out the time of an append from the answer to Produce."""
    return replace(_PARTITION(*parts), log_append_time_ms=-1)


_DESCRIBE_ACLS = own_answers.describe_acls
_ANSWER_FETCH = fetch.FetchService.answer
_PARTITION = produce_answer._partition
_REMOVE = replicas.Replicas._remove
_RECORD_FETCH = FollowerProgress.record_fetch
_ASSIGNMENT = DirectoryAssignments._assignment
_VIEW = metadata.MetadataAnswers._view
_ALL_BUT_ONE = {level: name for level, name in core_tables.RELEASES.items() if level != 16}
_LARGER = ((ReplicationPolicy(fetch_partition_bytes=1025 * 1024), core_tables.GIVEN[2][1]),)
PLANTED = [
    *planted_limits.PLANTED,
    *planted_outside.PLANTED,
    *planted_properties.PLANTED,
    *planted_states.PLANTED,
    ("compare_logins", sasl_state, "is_expired", lambda *_: False),
    ("compare_logins", sasl_state, "judge_plain", lambda users, _: min(users, default="")),
    ("compare_client_logins", ScramClientLogin, "receive", lambda *_: None),
    ("compare_mapping_rules", mapping_rules, "_in_case", lambda text, _: text),
    ("compare_token_rights", tokens, "principal_or", lambda kind, name, default: default),
    ("compare_token_rights", tokens, "token_with_hmac", _ignored),
    ("compare_whole_refusals", whole_refusals, "refusal", _elsewhere),
    ("compare_shown_rights", shown_rights, "topic_operations", lambda *_: 0),
    ("compare_shown_rights", shown_rights, "refuse_token_change", _ignored),
    ("compare_shown_rights", security_answers, "_may_see", lambda *_: True),
    ("compare_quota_answers", quota_answers.Filter, "matches", lambda *_: True),
    ("compare_whole_refusals", whole_refusals, "has_refusal", lambda _: True),
    ("compare_partly_allowed", Authorizer, "allows_part", lambda *_, **__: True),
    ("compare_partly_allowed", authorized, "config_right", _ignored),
    ("compare_creations", AutoCreator, "_ended", _ignored),
    ("compare_creations", AutoCreator, "create_internal", _ignored),
    ("compare_core_tables", core_tables, "RELEASES", _ALL_BUT_ONE),
    ("compare_core_tables", required_rights, "ON_CONTROLLERS", required_rights.ON_BROKERS),
    ("compare_core_tables", core_tables, "GIVEN", _LARGER),
    ("compare_core_tables", core_tables, "definition_of", _ignored),
    ("compare_leases", ActiveController, "_decide_early", _ignored),
    ("compare_leases", ActiveController, "_refuse", _ignored),
    ("compare_leases", Sessions, "is_live", lambda *_: False),
    ("compare_token_sweeps", TokenSweep, "take", _ignored),
    ("compare_token_sweeps", token_sweep, "expired_tokens", lambda *_: ()),
    ("compare_fetching", SnapshotFetcher, "_is_overtaken", lambda *_: False),
    ("compare_fetching", fetch_rpc, "_is_possible", lambda *_: True),
    ("compare_fetching", Fetcher, "_back_off", _ignored),
    ("compare_voting", Elections, "_is_up_to_date", lambda *_: True),
    ("compare_voting", PeerRetries, "retry_later", _ignored),
    ("compare_voting", RaftState, "renew_fetch_timeout", _ignored),
    ("compare_serving", serving, "_needs_snapshot", lambda *_: False),
    ("compare_serving", keeping, "_kept_of", lambda *_: 2),
    ("compare_serving", FetchServer, "_answer_superseded", _ignored),
    ("compare_serving", progress, "_majority_until", lambda state, _: state.timeouts.fetch_ns),
    ("compare_versions", versions, "served_versions", lambda on_controller_listener: {}),
    ("compare_versions", version, "CHANGED_METADATA", frozenset({7, 8, 11, 13, 14, 15, 17, 23})),
    ("compare_versions", version, "_FETCH_VERSIONS", version._FETCH_VERSIONS[1:]),
    ("compare_versions", version, "_LIST_OFFSETS_VERSIONS", version._LIST_OFFSETS_VERSIONS[:-1]),
    ("compare_versions", version, "REPLICA_EPOCHS_FROM", 11),
    ("compare_listings", metadata.MetadataAnswers, "_view", _kept_view),
    ("compare_listings", metadata, "contact", lambda *_: 1),
    ("compare_listings", answers, "contact", lambda *_: 1),
    ("compare_identities", answers, "SOFTWARE_NAMED_FROM", 4),
    ("compare_identities", answers, "LEAST_LEVEL", 8),
    ("compare_creations", auto_creation, "MOST_UNDER_WAY", 1_001),
    ("compare_doors", broker, "CHANGES", ()),
    ("compare_doors", broker, "TOKEN_CHANGES", ()),
    ("compare_doors", broker, "cluster_operations", lambda *_, **__: 0),
    ("compare_doors", broker.Broker, "_create_missing", lambda *arguments: arguments[-1]),
    ("compare_doors", broker.Broker, "_directory_failed", _ignored),
    ("compare_doors", broker.Broker, "stop", _ignored),
    ("compare_doors", broker.Broker, "deadline", lambda self: self._membership.deadline()),
    ("compare_doors", DataPlane, "stop", _ignored),
    ("compare_doors", DataPlane, "batches_read", _ignored),
    ("compare_doors", DataPlane, "timestamp_found", _ignored),
    ("compare_doors", forwarding, "LONGEST_MARGIN_NS", 999_000_000),
    ("compare_doors", forwarding, "_bounded", lambda message, _: message),
    ("compare_doors", forwarding.Forwarder, "advance", _ignored),
    ("compare_doors", controller_versions, "advertised", lambda served, _: served),
    ("compare_doors", controller_versions.ControllerVersions, "tick", _ignored),
    ("compare_memberships", Membership, "_on_stale_epoch", _ignored),
    ("compare_memberships", membership, "lacks_directories", lambda *_: False),
    ("compare_descriptions", configs, "_denied", _ignored),
    ("compare_descriptions", configs, "_SECRET_WORDS", ("password", "jaas", "keystore.key")),
    ("compare_registering", brokers, "_has_own_directories", lambda *_: True),
    ("compare_topic_deletions", topics, "MAX_RECORDS", 9_999),
    ("compare_rulings", controller_quotas, "MAX_RECORDS", 9_999),
    ("compare_rulings", acls, "MAX_RECORDS", 10_001),
    ("compare_rulings", elections, "MAX_PARTITIONS", 9_999),
    ("compare_rulings", creation, "MAX_PARTITIONS", 10_001),
    ("compare_rulings", timed_request, "client_timeout_ns", _ignored),
    ("compare_rulings", ReadBarrier, "committed", _ignored),
    ("compare_rulings", ActiveController, "_expire", _ignored),
    ("compare_rulings", ActiveController, "resign", _ignored),
    ("compare_rulings", active, "RECORDS_A_STEP", 501),
    ("compare_rulings", active, "RECORDS_AT_ONCE", 11),
    ("compare_applied_steps", committed, "RECORDS_A_STEP", 499),
    ("compare_applied_steps", CommittedImage, "stage", _ignored),
    ("compare_snapshot_times", Snapshots, "_has_news", lambda _: True),
    ("compare_snapshot_times", Snapshots, "installed", _ignored),
    ("compare_sent_requests", Outbox, "resume", _ignored),
    ("compare_judged_senders", gate, "has_refusal", lambda _: False),
    ("compare_judged_senders", Authorizer, "_log", _ignored),
    ("compare_judged_senders", audit, "_LONGEST_NAME", 259),
    ("compare_described_entries", own_answers, "describe_acls", _with_authorizer),
    ("compare_described_entries", describe, "matches", lambda *_: True),
    ("compare_inherited_images", snapshot, "RECORDS_A_BATCH", 0),
    ("compare_inherited_images", apply, "_switched", lambda was, change: change >= was),
    ("compare_topic_creations", topics, "MAX_RECORDS", 9_999),
    ("compare_topic_creations", topics, "_RESERVED_IDS", (1 << 64) - 1),
    ("compare_topic_creations", topics, "_request_error", _ignored),
    ("compare_pages", topic_pages, "MOST_PARTITIONS", 2),
    ("compare_housekeeping", retention, "retained_start", lambda replica, _: 0),
    ("compare_housekeeping", Housekeeping, "write_checkpoints", _ignored),
    ("compare_housekeeping", Housekeeping, "deadline", _ignored),
    ("compare_followers", ProducerStates, "truncate", _ignored),
    ("compare_followers", EpochCache, "truncate", _ignored),
    ("compare_followers", LogIndex, "boundary_at", lambda self, _: self.start_offset),
    ("compare_catch_up", fetcher, "_is_current", lambda *_: True),
    ("compare_catch_up", fetcher, "has_no_common_part", lambda *_: False),
    ("compare_fetch_requests", fetcher, "_SHORTEST_BACKOFF", 49_999_999),
    ("compare_fetch_requests", Replica, "_flush_if_due", _ignored),
    ("compare_fetch_requests", OffsetSearch, "_on_earliest", _ignored),
    ("compare_catch_up", OffsetSearch, "_on_latest", _ignored),
    ("compare_catch_up", Replica, "flushed", _ignored),
    ("compare_parts", produce_answer, "_partition", _without_time),
    ("compare_parts", fetch.FetchService, "answer", _one_read),
    ("compare_placements", log_directories, "MIGRATING", LOST),
    ("compare_placements", replicas, "has_new_settings", _of_topic_alone),
    ("compare_placements", replicas.Replicas, "_match_offline", _ignored),
    ("compare_placements", replicas.Replicas, "_remove", _left_offline),
    ("compare_placements", DirectoryAssignments, "_is_open", _told_once),
    ("compare_placements", DirectoryAssignments, "_assignment", _at_any_epoch),
    ("compare_placements", LogDirectories, "count", _ignored),
    ("compare_placements", LogDirectories, "place", lambda self, _: self.online[0]),
    ("compare_placements", DirectoryAssignments, "_open", lambda _: {}),
    ("compare_leaders", LogIndex, "bytes_between", lambda self, *_: self.size),
    ("compare_leaders", EpochCache, "epoch_at", lambda self, _: self.latest),
    ("compare_followers", ProducerStates, "expire", _ignored),
    ("compare_leaders", FollowerProgress, "record_fetch", _start_with_newer_records),
    ("compare_leaders", Leader, "low_watermark", lambda self: self._index.start_offset),
    ("compare_leaders", ProducerStates, "check", lambda *_: None),
    ("compare_leaders", produce.DelayedProduce, "expire", _ignored),
    ("compare_leaders", fetch.FetchService, "_record_progress", _ignored),
    ("compare_leaders", list_offsets, "_not_available", lambda _: ErrorCode.NONE),
]
