"""Each workload on a store in memory: valid if the store is right, invalid for each known bug."""

import pytest

from kraftproof.checkers.verdict import Verdict
from kraftproof.workloads.catalogue import ours
from tests.support.long_cases import long
from tests.support.memory_store import verdict_of

SEEDS = (1, long(2), long(3))
BUGS = {
    "register": ("forgets", "not-atomic"),
    "set": ("forgets", "not-atomic"),
    "queue": ("forgets",),
    "counter": ("forgets", "not-atomic"),
    "append": ("forgets", "not-atomic"),
    "bank": ("forgets", "not-atomic", "is-poor"),
    "lock": ("forgets", "takes-old-tokens"),
    "log": ("forgets", "not-atomic", "repeats", "skips", "drops"),
    "log-topics": ("drops",),
}
OF_KAFKA = {
    *("topics", "topic-names", "registration"),
    *("configs", "reassignment", "controlled-shutdown"),
    *("acls", "credentials", "tokens", "quotas"),
}


def test_every_workload_for_any_system_is_here():
    assert set(BUGS) == set(ours()) - OF_KAFKA


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", BUGS)
def test_a_right_store_is_valid(name, seed, tmp_path):
    unread, verdict = verdict_of(name, seed, None, tmp_path)
    assert unread == 0
    assert verdict.operations > 300
    assert verdict.verdict is Verdict.VALID, verdict.why


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "bug"), [(name, bug) for name in BUGS for bug in BUGS[name]])
def test_a_bug_of_the_store_is_found(name, bug, seed, tmp_path):
    _, verdict = verdict_of(name, seed, bug, tmp_path)
    assert verdict.verdict is Verdict.INVALID, verdict.why


def test_one_seed_is_one_history(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        verdict_of("append", 5, None, tmp_path / folder)
    first, second = (tmp_path / folder / "append-5.jsonl" for folder in ("one", "two"))
    assert first.read_bytes() == second.read_bytes() != b""
