"""What the picture says on top of the bars: labels, arrows, what was counted. In a real browser."""

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import Verdict
from kraftproof.report.history_picture import write_picture
from tests.support.browser import Browser

CASES = [
    pytest.param("counter", "too-high", 10_000, marks=pytest.mark.long),
    pytest.param("kv-append", "lost-append", 80, marks=pytest.mark.long),
    ("list-append", "reordered", 200),
    pytest.param("mutex", "double-acquire", 10_000, marks=pytest.mark.long),
    pytest.param("queue", "out-of-order", 60, marks=pytest.mark.long),
    pytest.param("registration", "stale-epoch", 60, marks=pytest.mark.long),
    pytest.param("stack", "out-of-order", 10_000, marks=pytest.mark.long),
    ("topics", "gone-id", 2_000),
    pytest.param("topics", "gone-id", 10_000, marks=pytest.mark.long),
]


@pytest.fixture(scope="module")
def browser():
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    """Opens the picture of a corrupted history of a model."""
    folder = tmp_path_factory.mktemp("marks")

    def show(name: str, kind: str, operations: int) -> Browser:
        path = folder / f"{name}-{operations}.html"
        if not path.exists():
            write(path, name, kind, operations)
        browser.resize(1280, 800)
        browser.messages.clear()
        browser.open(path)
        browser.settle()
        return browser

    return show


def write(path, name: str, kind: str, size: int, concurrency: int = 8) -> None:
    options = GenerateOptions(
        model=name, operations=size, concurrency=concurrency, values=None, corrupt=kind, seed=1
    )
    model, columns = models()[name], columns_of(generated_table(options))
    assert isinstance(model, SequentialModel)
    (judged,) = judge_columns(model, columns, CheckOptions())
    assert judged.verdict is Verdict.INVALID
    first_illegal = judged.findings[0].operation_index
    assert first_illegal is not None
    operations = columns.operations(0)
    write_picture(
        path, explain(model, judged.key, operations, first_illegal, seconds=30), operations
    )


@pytest.mark.parametrize(("name", "kind", "size"), CASES)
def test_every_label_is_whole_and_covers_nothing_that_proves_it(shown, name, kind, size):
    page = shown(name, kind, size)
    assert page.messages == []
    assert page.evaluate("view.x(view.middle(data.first_illegal)) > GUTTER")
    assert page.evaluate("view.x(view.middle(data.first_illegal)) < view.width")
    labels = page.evaluate(
        "labelsOf(view).map(one => ({ ...one, lane: data.lane[one.op],"
        " wide: plot.getContext('2d').measureText(one.text).width }))"
    )
    assert page.evaluate("data.first_illegal") in {one["op"] for one in labels}
    bars = page.evaluate(
        "[...view.proof.keys()].map(op => ({ op, lane: data.lane[op], ...barOf(view, op) }))"
    )
    for label in labels:
        assert page.evaluate("GUTTER") <= label["from"]
        assert label["to"] <= page.evaluate("view.width")
        assert label["wide"] <= label["to"] - label["from"]
        others = [one for one in [*labels, *bars] if one["op"] != label["op"]]
        for other in others:
            if other["lane"] == label["lane"]:
                assert other["to"] <= label["from"] or label["to"] <= other["from"], (label, other)


def test_rows_that_are_too_low_for_a_label_have_it_over_their_neighbours(browser, tmp_path):
    path = tmp_path / "many.html"
    write(path, "cas-register", "stale-read", 2_000, concurrency=50)
    browser.resize(1280, 800)
    browser.open(path)
    browser.settle()
    assert browser.evaluate("view.rowHeight < LABEL")
    labels = browser.evaluate(
        "labelsOf(view).map(one => ({ ...one, top: view.y(data.lane[one.op]) }))"
    )
    proof = browser.evaluate("view.proof.size")
    assert browser.evaluate("data.first_illegal") in {one["op"] for one in labels}
    assert len(labels) == proof
    height = browser.evaluate("LABEL")
    for label in labels:
        for other in labels:
            if label is not other and abs(label["top"] - other["top"]) < height:
                assert other["to"] <= label["from"] or label["to"] <= other["from"]


def test_the_times_at_the_edge_are_whole(browser, tmp_path):
    path = tmp_path / "edge.html"
    write(path, "cas-register", "stale-read", 400)
    browser.resize(1280, 800)
    browser.open(path)
    browser.settle()
    over = browser.evaluate(
        """(() => {
          const found = [], pen = plot.getContext("2d"), own = pen.fillText;
          pen.fillText = (text, x) => found.push(x + pen.measureText(text).width / 2 - view.width);
          for (let step = 0; step < 40; step++) { view.left += view.span / 400; painter.axis(pen); }
          delete pen.fillText;
          return Math.max(...found);
        })()"""
    )
    assert over <= 0


@pytest.mark.parametrize(("name", "kind", "size"), CASES)
def test_no_text_of_a_bar_is_behind_a_label(shown, name, kind, size):
    page = shown(name, kind, size)
    written = page.evaluate(
        """(() => {
          const found = [], pen = plot.getContext("2d");
          const wide = text => pen.measureText(text).width;
          pen.fillText = (text, x, y) => found.push([text, x, x + wide(text), y]);
          for (let lane = 0; lane < view.lanes.length; lane++) painter.row(pen, lane);
          delete pen.fillText;
          return found;
        })()"""
    )
    assert written
    labels = page.evaluate(
        "labelsOf(view).filter(one => !one.isInside)"
        ".map(one => [one.from, one.to, view.y(data.lane[one.op]), view.rowHeight])"
    )
    for text, left, right, y in written:
        for begin, end, top, height in labels:
            if top < y < top + height:
                assert right <= begin or end <= left, text


@pytest.mark.parametrize(("name", "kind", "size"), CASES)
def test_no_arrow_is_broken_over_two_lines(shown, name, kind, size):
    words = shown(name, kind, size).evaluate("byId('words').innerText")
    assert "->" not in words
    assert "is not linearizable" in words


def test_what_was_over_before_what_is_told_by_an_arrow(shown):
    page = shown("queue", "out-of-order", 60)
    after = page.evaluate("[...view.proof].flatMap(([op, one]) => one.after.map(b => [b, op]))")
    assert after
    for before, later in after:
        assert page.evaluate(f"view.end[{before}] < data.start[{later}]")
    drawn = page.evaluate(
        """(() => {
          const pen = plot.getContext("2d");
          const count = () => pen.getImageData(0, 0, plot.width, plot.height).data.reduce(
            (sum, one, n) => sum + (n % 4 === 2) * one, 0);
          painter.draw(); const withArrows = count();
          for (const one of view.proof.values()) one.after = [];
          painter.draw(); return withArrows !== count();
        })()"""
    )
    assert drawn


def test_what_was_counted_is_underlined_and_its_window_shown(shown):
    page = shown("mutex", "double-acquire", 10_000)
    (window,) = page.evaluate("data.counted.windows")
    inside, touching = page.evaluate("[data.counted.inside, data.counted.touching]")
    assert len(inside) == len(touching) + 2
    assert all(page.evaluate(f"{inside}.map(op => data.f[op] === 'acquire')"))
    assert page.evaluate(
        f"{inside}.every(op => {window[0]} <= data.start[op] && view.end[op] <= {window[1]})"
    )
    assert page.evaluate("data.counted.text").startswith(f"{len(inside)} acquire wholly within")
    x = f"view.x({window[1]}) - 3"
    strip = f"[...plot.getContext('2d').getImageData({x}, view.countedTop + 3, 1, 1).data]"
    assert page.evaluate(strip)[:3] == [0x0B, 0x69, 0xC7]
    left, top = page.evaluate("(({ x, y }) => [x, y])(plot.getBoundingClientRect())")
    page.mouse("mouseMoved", left + page.evaluate(x), top + page.evaluate("view.countedTop + 5"))
    assert "acquire wholly within" in page.evaluate("tip.innerText")
