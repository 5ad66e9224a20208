"""Probes count the blocks that run, and a line is found in its innermost block."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

from kraftproof.mutants.blocks import (
    ProbingLoader,
    block_at,
    blocks,
    constant_at,
    naming_blocks,
    take_counts,
)

TEXT = '''"""A module."""

LIMIT = 3


def grade(x: int) -> str:
    """Return a word."""
    if x > LIMIT:
        return "much"
    try:
        return "some" if x else "none"
    finally:
        LOG.append(x)


LOG: list[int] = []
'''
NAME = "kraftproof.node.example_of_probes"


def test_a_line_is_in_its_innermost_block():
    found = blocks(TEXT)
    assert block_at(TEXT, 3) is None
    assert found[block_at(TEXT, 8)].first == 8
    assert found[block_at(TEXT, 9)].first == found[block_at(TEXT, 9)].last == 9
    assert found[block_at(TEXT, 11)].first == 11
    assert found[block_at(TEXT, 13)].first == 13


def test_a_constant_is_reached_where_it_is_named():
    assert constant_at(TEXT, 3) == "LIMIT"
    assert constant_at(TEXT, 9) is None
    assert naming_blocks(TEXT, "LIMIT") == {block_at(TEXT, 8)}
    assert naming_blocks(TEXT, "OTHER") == set()
    assert naming_blocks(f"{TEXT}TWICE = 2 * LIMIT\n", "LIMIT") is None


def test_probes_count_what_runs(tmp_path, monkeypatch):
    path = tmp_path / "example.py"
    path.write_text(TEXT)
    spec = spec_from_file_location(NAME, path, loader=ProbingLoader(NAME, str(path)))
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, NAME, module)
    spec.loader.exec_module(module)
    assert [module.grade(x) for x in (9, 1, 0)] == ["much", "some", "none"]
    assert module.grade.__doc__ == "Return a word."
    counts = take_counts()[NAME]
    assert counts[block_at(TEXT, 8)] == 3
    assert counts[block_at(TEXT, 9)] == 1
    assert counts[block_at(TEXT, 11)] == counts[block_at(TEXT, 13)] == 2
    assert NAME not in take_counts()
