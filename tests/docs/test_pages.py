"""Decision pages have their form, and relative links of README and docs lead to a place."""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.fences import FENCE, ROOT

DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
STRICT_BELOW = 200
"""Pages from this number on may have an older form of the same parts."""
NAME = re.compile(r"(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
INLINE_CODE = re.compile(r"`[^`\n]*`")
STATUS = re.compile(r"(?im)^(?:\*\*|## )?Status\b[*:.]*\s*(?:\n+)?\**:?\**\s*(accepted|superseded)")
SUPERSEDED = re.compile(r"superseded\b.*?\]\((\d{4})-")
OUTSIDE = re.compile(r"\b(FAULTS|REQUIREMENTS|STYLE|DESIGN|HOUSE|CHECKERS|KAFKA)\.md\b|/work/")


def decision_pages(folder: Path = DECISIONS) -> list[Path]:
    return [page for page in sorted(folder.glob("*.md")) if page.name != "README.md"]


def all_pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def faults_of(page: Path) -> list[str]:
    """Return the parts of its form that a decision page lacks."""
    named = NAME.fullmatch(page.name)
    if named is None:
        return [f"{page.name}: the name is not NNNN-words-of-the-title.md"]
    text = page.read_text(encoding="utf-8")
    is_strict = int(named[1]) < STRICT_BELOW
    found = [
        f"{page.name}: no part {part!r}"
        for part in ("Context", "Decision", "Consequences")
        if not re.search(rf"(?m)^(?:## {part}$|\*\*{part}\.?\*\*)", text)
    ]
    if STATUS.search(text) is None:
        found.append(f"{page.name}: no status, accepted or superseded by another page")
    if is_strict and not text.startswith(f"# {named[1]} "):
        found.append(f"{page.name}: the heading does not begin with '# {named[1]} '")
    if is_strict and not re.search(r"(?m)^\*\*Status:\*\* .*\d{4}-\d\d-\d\d", text):
        found.append(f"{page.name}: the status has no date")
    return found


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the forges make them."""
    kept = Counter[str]()
    result = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        result.add(f"{anchor}-{kept[anchor]}" if kept[anchor] else anchor)
        kept[anchor] += 1
    return result


def broken_links(page: Path, root: Path = ROOT) -> list[str]:
    """Return the links that lead out of the repository's tree or to no file or heading."""
    found = []
    for link in LINK.findall(INLINE_CODE.sub("", prose(page))):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = unquote(link).partition("#")
        place = (page.parent / target).resolve() if target else page
        if not place.exists() or not place.is_relative_to(root.resolve()):
            found.append(f"{page.relative_to(root)}: {link} leads to no file")
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            found.append(f"{page.relative_to(root)}: {link} leads to no heading")
    return found


def test_decision_pages_have_their_form():
    pages = decision_pages()
    assert pages
    assert [fault for page in pages for fault in faults_of(page)] == []


def test_numbers_of_decisions_are_unique():
    numbers = Counter(page.name[:4] for page in decision_pages())
    assert [number for number, count in numbers.items() if count > 1] == []
    assert len(numbers) > 100


def test_superseded_pages_name_a_page_that_is_there():
    numbers = {page.name[:4] for page in decision_pages()}
    named = [m[1] for page in decision_pages() for m in SUPERSEDED.finditer(page.read_text())]
    assert named
    assert set(named) <= numbers


def test_the_index_lists_every_decision_once():
    """A new page gets a line under its area in docs/decisions/README.md."""
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = Counter(re.findall(r"(?m)^- \[\d{4}\]\(([^)]+)\)", index))
    assert {page.name for page in decision_pages()} == set(listed)
    assert set(listed.values()) == {1}


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    assert broken_links(page) == []


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_name_nothing_outside_the_repository(page):
    assert OUTSIDE.findall(page.read_text(encoding="utf-8")) == []


GOOD = """# 0001 Keep the log

**Status:** accepted, 2026-11-25.

## Context
One.

## Decision
Two.

## Consequences
Three.
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## Consequences\n", "", "no part 'Consequences'"),
        ("**Status:** accepted, 2026-11-25.\n", "", "no status"),
        ("accepted, 2026-11-25", "accepted", "no date"),
        ("# 0001 ", "# 0002 ", "the heading"),
    ],
)
def test_a_page_without_a_part_is_reported(tmp_path, old, new, fault):
    page = tmp_path / "0001-keep-the-log.md"
    page.write_text(GOOD)
    assert faults_of(page) == []
    page.write_text(GOOD.replace(old, new))
    assert fault in faults_of(page)[0]


def test_a_broken_link_is_reported(tmp_path):
    (tmp_path / "there.md").write_text("# A heading, here\n")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#a-heading-here) [b](there.md#gone) [c](gone.md) `[d](gone.md)`\n")
    assert [fault.split(": ")[1] for fault in broken_links(page, tmp_path)] == [
        "there.md#gone leads to no heading",
        "gone.md leads to no file",
    ]


ENTRY = re.compile(r"(?m)^- \*\*([^*]+)\*\*(.*)$")
SECTION = re.compile(r"(?m)^## .*$")


def test_the_glossary_defines_each_term_once_and_in_order():
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    defined = []
    for section in SECTION.split(text)[1:]:
        entries = ENTRY.findall(section)
        assert len(entries) == sum(line.startswith("-") for line in section.splitlines())
        terms = [term.lower() for term, _ in entries]
        assert terms == sorted(terms)
        assert [term for term, definition in entries if len(definition.split()) < 5] == []
        defined += terms
    assert len(defined) > 100
    assert [term for term, count in Counter(defined).items() if count > 1] == []


def test_the_files_of_the_architecture_page_are_there():
    rows = re.findall(
        r"(?m)^\| ([a-z/, ]+) \| [^|]* \| ([^|]*) \|$", (DOCS / "architecture.md").read_text()
    )[1:]  # the first row is the head
    assert len(rows) > 20
    missing = []
    for folders, files in rows:
        places = [ROOT / folder for folder in folders.split(", ")]
        missing += [str(place) for place in places if not place.is_dir()]
        for name in re.findall(r"`(\w+\.py)`", files):
            if not any((place / name).is_file() for place in places):
                missing.append(f"{folders}: {name}")
    assert missing == []
