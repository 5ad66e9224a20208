"""Bugs that are planted in what a resource, a leader or an image has already; see planted.py."""

from typing import Any

from msgspec.structs import replace

from kraftproof.node.core.controller import authorized, topics
from kraftproof.node.core.controller.configs import alter
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.raft.snapshots import download


def _without_present(_: Any, resource: Any) -> Any:
    """Append to the default of a list, and not to the value that the resource has."""
    return _ALTERED(EMPTY_IMAGE, resource)


def _judged_alone(kind: Any, configs: Any) -> None:
    """Judge each value of a resource by itself."""
    for name, value in configs.items():
        _CHECK_CONFIGS(kind, {name: value})


def _with_removed_followers(leader: Any) -> None:
    """Keep the progress of the followers that have left the partition."""
    before = dict(getattr(leader, "followers", {}))
    _MATCH_FOLLOWERS(leader)
    leader.followers = before | leader.followers


def _loaded_within_a_batch(committed: Any, loaded: Any) -> None:
    """Go on with the batch that was applied in part before a snapshot was loaded."""
    partly = committed._partly
    _LOAD(committed, loaded)
    committed._partly = partly


def _installed_beside_others(state: Any, copy: Any, stored: Any) -> None:
    """Keep the older snapshots beside a downloaded snapshot."""
    older = state.snapshots
    _INSTALL(state, copy, stored)
    state.set_snapshots([*older, stored])


def _with_first_settings(replica: Any, partition: Any, image: Any, settings: Any, now: Any) -> None:
    """Lead on with the settings of the begin of the leadership."""
    _FOLLOW_IMAGE(replica, partition, image, replica.settings if replica.leader else settings, now)


def _with_first_min_isr(replica: Any, *changed: Any) -> None:
    """Lead on with min.insync.replicas of the begin of the leadership."""
    leader = replica.leader
    before = leader and leader.min_isr
    _FOLLOW_IMAGE(replica, *changed)
    if leader is not None and replica.leader is leader:
        leader.min_isr = before


def _on_any_disk(leader: Any, replica: Any) -> bool:
    """Wait for the followers whose directory has failed, too."""
    return replica in leader.brokers and not leader.brokers[replica].fenced


def _flushed_before_the_cut(replica: Any, end_offset: Any) -> None:
    """Take the flush that was under way at a truncation as one of the log after it."""
    asked, effects = replica._flush_asked, replica._outbox.effects
    _TRUNCATE(replica, end_offset)
    if asked > end_offset and effects and isinstance(effects[-1], Flush):
        effects.pop()
        replica._flush_asked = end_offset


def _flushed_of_any_generation(replica: Any, event: Any) -> None:
    """Take the end of a flush that began before a truncation."""
    _FLUSHED(replica, replace(event, generation=replica.index.generation))


_FOLLOW_IMAGE = Replica.follow_image
_MATCH_FOLLOWERS = Leader._match_followers
_ALTERED, _CHECK_CONFIGS = alter._altered, alter.check_configs
_TRUNCATE, _FLUSHED = Replica.truncate, Replica.flushed
_LOAD, _INSTALL = CommittedImage.load, download.install
PLANTED = [
    ("compare_altered_configs", alter, "_altered", _without_present),
    ("compare_altered_configs", alter, "check_configs", _judged_alone),
    ("compare_created_configs", topics, "layers_of", lambda *_: topics.NO_LAYERS),
    ("compare_created_configs", topics, "values_for_topics", lambda _: {}),
    ("compare_created_configs", authorized, "_without_configs", lambda topic: topic),
    ("compare_leaders", Leader, "_match_followers", _with_removed_followers),
    ("compare_proposals", Leader, "_match_followers", _with_removed_followers),
    ("compare_proposals", Replica, "follow_image", _with_first_min_isr),
    ("compare_leaders", Replica, "follow_image", _with_first_settings),
    ("compare_leaders", Leader, "_is_live", _on_any_disk),
    ("compare_fetch_requests", Replica, "truncate", _flushed_before_the_cut),
    ("compare_fetch_requests", Replica, "flushed", _flushed_of_any_generation),
    ("compare_applied_steps", CommittedImage, "load", _loaded_within_a_batch),
    ("compare_fetching", download, "install", _installed_beside_others),
]
