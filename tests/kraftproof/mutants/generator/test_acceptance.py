"""mypy and an import decide which edits become mutants."""

from pathlib import Path
from unittest import mock

import pytest

from kraftproof.mutants import type_check
from kraftproof.mutants.generator.acceptance import accepted
from kraftproof.mutants.generator.candidates import Candidate, read_sources
from kraftproof.mutants.generator.source import Replacement

pytestmark = pytest.mark.simulation
LOG = Path(__file__).resolve().parents[4] / "node" / "core" / "log" / "log.py"


def candidate(old, new):
    (source,) = read_sources([LOG])
    start = source.text.index(old)
    replacement = Replacement(start=start, end=start + len(old), text=new)
    return Candidate(source=source, operator="constant", replacement=replacement)


@pytest.mark.long
def test_an_edit_is_accepted_if_it_type_checks_and_imports(tmp_path):
    misspelled = candidate("return self._batches[-1]", "return self._batch[-1]")
    unimportable = candidate("\n\nclass Log", "\n\nassert not __name__\n\n\nclass Log")
    sound = candidate("> end_offset", ">= end_offset")
    drawn = [misspelled, sound, unimportable, sound]
    assert list(accepted(drawn, tmp_path)) == [sound, sound]
    suffixes = sorted(file.suffix for file in tmp_path.iterdir())
    assert suffixes == [".diff", ".py", ".rejected", ".rejected"]
    with mock.patch.object(type_check.TypeChecker, "error_of", side_effect=AssertionError):
        assert list(accepted(drawn, tmp_path)) == [sound, sound]  # no edit is checked again
