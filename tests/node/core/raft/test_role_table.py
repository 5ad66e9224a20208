"""The table of role transitions in the chapter of the package is the table of the assertion."""

from pathlib import Path

import pytest

import kraftproof.node.core.raft as chapter
from kraftproof.node.core.raft import roles
from kraftproof.node.core.raft.roles import RoleEvent, Unattached, Voted


def test_the_chapter_shows_the_table_that_transitions_are_asserted_against() -> None:
    lines = [line.strip() for line in (chapter.__doc__ or "").splitlines()]
    rows = roles.transition_table().splitlines()
    assert len(rows) > 7
    for row in rows:
        assert row.strip() in lines


def test_the_chapter_names_every_file_of_the_package() -> None:
    text = chapter.__doc__ or ""
    paths = sorted(Path(next(iter(chapter.__path__))).glob("*.py"))
    assert len(paths) > 10
    for path in paths:
        assert path.name == "__init__.py" or f" {path.name}" in text


@pytest.mark.requirement("595-12")
def test_a_transition_needs_its_event() -> None:
    unattached = Unattached(epoch=1, election_deadline=0)
    voted = Voted(epoch=1, candidate=2, election_deadline=0)
    roles.assert_transition(unattached, RoleEvent.VOTE_GIVEN, voted)
    with pytest.raises(AssertionError, match="no way from unattached to voted at ELECTION_LOST"):
        roles.assert_transition(unattached, RoleEvent.ELECTION_LOST, voted)
