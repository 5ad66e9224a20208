"""The picture of an explanation, in a real browser: it opens where it should, moves, finds, tells.

Chromium is driven as a person would: wheel, drag, keys. How fluent it is is printed.
"""

import statistics
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.history.operations import Operation, read_operations
from kraftproof.checkers.models.cas_register import CasRegister
from kraftproof.report.colours import DARK
from kraftproof.report.history_picture import write_picture
from tests.support.browser import Browser

ROOT = Path(__file__).parents[2]
MS = 1_000_000
FAULTS = [
    FaultEvent(index=0, time=100 * MS, phase="applied", fault="f1", kind="kill", targets=[2]),
    FaultEvent(index=1, time=900 * MS, phase="healed", fault="f1", kind="kill", targets=[2]),
    FaultEvent(index=2, time=950 * MS, phase="applied", fault="f2", kind="partition"),
]


def stale(size: int) -> list[Operation]:
    """Reads and writes of eight processes in a row, and one read of what was overwritten."""
    random, value, operations = Random(size), 0, []
    for index in range(size):
        is_read = random.random() < 0.5
        value = value if is_read else index
        is_stale = index == size * 3 // 4
        operations.append(
            Operation(
                index=index,
                process=index % 8,
                f="read" if is_read or is_stale else "write",
                key="<b>k</b>",
                input=None if is_read or is_stale else value,
                output=value - size // 2 if is_stale else value,
                status="ok",
                invoke_index=4 * index,
                complete_index=4 * index + 9,
                invoke_time=index * MS,
                complete_time=index * MS + 2 * MS + 250_000,
                node=str(index % 3 + 1),
            )
        )
    return operations


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("picture") / "large.html"
    operations = stale(10_000)
    found = explain(CasRegister(), "<b>k</b>", operations, 7_500, history="a <history>")
    write_picture(path, found, operations, FAULTS)
    return path


@pytest.fixture
def page(browser, large):
    browser.resize(1280, 800)
    browser.messages.clear()
    browser.requests.clear()
    browser.open(large)
    browser.settle()
    return browser


def centre_of(operation: int) -> str:
    """Where the middle of a bar lies, as [x, y]."""
    return (
        f"(() => {{ const {{ view, data }} = picture, op = data.index.indexOf({operation});"
        " return [view.x(view.middle(op)), view.y(data.lane[op]) + view.rowHeight / 2]; })()"
    )


def pixel(x: str, y: str) -> str:
    """The red, green and blue of a point."""
    return f"[...plot.getContext('2d').getImageData({x}, {y}, 1, 1).data].slice(0, 3)"


def stage(page):
    return page.evaluate("(({ x, y }) => [x, y])(plot.getBoundingClientRect())")


def test_it_needs_nothing_else_and_nothing_goes_wrong(page, large):
    assert page.messages == []
    assert [one for one in page.requests if not one.startswith("data:")] == [
        large.resolve().as_uri()
    ]
    text = large.read_text(encoding="utf-8")
    assert "<b>k</b>" not in text
    assert "http" not in text


def test_it_opens_at_the_offending_operation(page):
    (x, y), width = page.evaluate(centre_of(7_500)), page.evaluate("view.width")
    assert abs(x - (96 + (width - 96) / 2)) < 2
    assert 0 < y < page.evaluate("view.height")
    assert page.evaluate("view.span / view.last") < 0.1
    assert page.evaluate("view.proof.size") == page.evaluate(
        "document.querySelectorAll('.constraint').length"
    )
    assert page.evaluate(pixel(x, y)) == [0xC2, 0x00, 0x3B]


def test_the_wheel_zooms_at_the_pointer_and_a_drag_moves(page):
    left, top = stage(page)
    time, span = page.evaluate("[view.time(500), view.span]")
    page.mouse("mouseWheel", left + 500, top + 200, deltaX=0, deltaY=-300)
    page.settle()
    assert page.evaluate("view.span") < span
    assert abs(page.evaluate(f"view.x({time})") - 500) < 1.5
    page.mouse("mousePressed", left + 500, top + 200, button="left", clickCount=1)
    page.mouse("mouseMoved", left + 620, top + 200, button="left")
    page.mouse("mouseReleased", left + 620, top + 200, button="left", clickCount=1)
    assert abs(page.evaluate(f"view.x({time})") - 620) < 1.5


def test_keys_move_zoom_and_come_back(page):
    at_first = page.evaluate("[view.left, view.span]")
    page.key("+")
    page.key("ArrowRight")
    page.settle()
    assert page.evaluate("[view.left, view.span]") != at_first
    page.key("0")
    page.settle()
    assert page.evaluate("view.left <= 0 && view.right >= view.last")
    page.key("o")
    page.settle()
    assert page.evaluate("[view.left, view.span]") == pytest.approx(at_first)
    page.key("n")
    page.settle()
    assert page.evaluate("view.proof.has(painter.selected)")


def test_hovering_tells_the_operation(page):
    left, top = stage(page)
    x, y = page.evaluate(centre_of(7_500))
    page.mouse("mouseMoved", left + x, top + y)
    tip = page.evaluate("tip.hidden ? '' : tip.innerText")
    assert "7500: read" in tip
    assert "at node 1" in tip
    assert "not linearizable: the operation has no place in a legal order" in tip
    other = page.evaluate("picture.data.index[view.byOrder[view.byOrder.length - 40]]")
    page.evaluate(f"picture.select(picture.data.index.indexOf({other}))")
    page.settle()
    x, y = page.evaluate(centre_of(other))
    page.mouse("mouseMoved", left + x, top + y)
    assert "in the longest linearization" in page.evaluate("tip.innerText")


def test_search_goes_to_an_operation(page):
    page.key("/")
    for letter in "1234":
        page.key(letter)
    page.settle()
    assert page.evaluate("byId('matches').textContent") == "1 of 1"
    x, _ = page.evaluate(centre_of(1234))
    assert 96 < x < page.evaluate("view.width")
    assert page.evaluate("picture.find('node 2').length") > 1000
    assert page.evaluate("picture.find('no such thing')") == []


def test_faults_are_shaded_for_as_long_as_they_were_in_force(page):
    assert page.evaluate("picture.data.faults.map(one => [one.kind, one.start, one.end])") == [
        ["kill", 100 * MS, 900 * MS],
        ["partition", 950 * MS, None],
    ]
    page.evaluate("view.show(0, 2000 * 1e6); painter.draw()")
    inside = page.evaluate(pixel("view.x(870 * 1e6)", "AXIS + STRIP / 2"))
    outside = page.evaluate(pixel("view.x(930 * 1e6)", "AXIS + STRIP / 2"))
    assert outside == [255, 255, 255]
    assert inside[0] > inside[1] + 60


def test_light_and_dark_follow_the_system_and_the_button(page, browser, large):
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.key("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    shown = "getComputedStyle(document.documentElement).getPropertyValue('--invalid').trim()"
    assert page.evaluate(shown) == DARK["invalid"]
    browser.resize(480, 900, dark=True)
    browser.open(large)
    browser.settle()
    assert browser.evaluate("document.documentElement.dataset.theme") == "dark"
    assert browser.evaluate("document.documentElement.scrollWidth") <= 480


def test_ten_thousand_operations_are_fluent(page):
    """A frame is drawn well within the time of one, whatever is in view; the times are printed."""
    measured = page.evaluate(
        """new Promise(done => {
          const drawn = [], frames = []; let n = 0, last = performance.now();
          view.show(-view.last * .02, view.last * 1.04);
          const frame = now => {
            frames.push(now - last); last = now;
            const begun = performance.now();
            view.zoom(n % 120 < 60 ? .9 : 1 / .9, 700); painter.draw();
            drawn.push(performance.now() - begun);
            if (++n < 240) requestAnimationFrame(frame); else done({ drawn, frames });
          };
          requestAnimationFrame(frame);
        })"""
    )
    drawn, frames = sorted(measured["drawn"]), sorted(measured["frames"][1:])
    print(
        f"\n10,000 operations, 240 frames of zooming: drawing {statistics.median(drawn):.1f} ms"
        f" (95 %: {drawn[len(drawn) * 95 // 100]:.1f}), from frame to frame"
        f" {statistics.median(frames):.1f} ms (95 %: {frames[len(frames) * 95 // 100]:.1f})"
    )
    assert len(drawn) == 240


def test_a_history_without_a_clock_counts_events(browser, tmp_path):
    operations = read_operations(ROOT / "histories" / "etcd" / "etcd_000.jsonl")
    found = explain(CasRegister(), "0", operations, 43)
    write_picture(tmp_path / "small.html", found, operations)
    browser.resize(1280, 800)
    browser.open(tmp_path / "small.html")
    browser.settle()
    assert browser.evaluate("picture.data.unit") == "events"
    assert browser.evaluate("picture.data.lanes.length") < 12
    rows = browser.evaluate(
        "view.lanes.map(row => row.map(op => [view.data.start[op], view.end[op]]))"
    )
    for row in rows:
        assert all(before[1] <= after[0] for before, after in pairwise(row))
