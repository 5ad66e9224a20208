"""Order views: who saw which record around the offset of a finding, as text and as a picture."""

from xml.etree import ElementTree

import pyarrow as pa
import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.history.read import operations_table_of
from kraftproof.checkers.history.schema import table_schema
from kraftproof.checkers.logs.around import order_views
from kraftproof.cli import run as kraftproof
from kraftproof.report.order_picture import svg_of
from tests.checkers.logs.test_partitions import A, B, read, send, written

STEPS = [
    send(A, 0),
    send(B, 1),
    read("poll", 0, (0, A), (1, B)),
    read("final", None, (0, A), end=2),
]


@pytest.fixture
def view(tmp_path):
    path = written(tmp_path, [*STEPS, read("final", 1, end=2)])
    (run,) = check_paths([path])
    rows = [
        {"node": node, "partition": "t-0", "offset": offset, "epoch": 3, "batch_crc": 1,
         "value": f'"{value}"', "high_watermark": 2}
        for node, offset, value in ((1, 0, A), (2, 0, A), (2, 1, B))
    ]  # fmt: skip
    replicas = pa.Table.from_pylist(rows, schema=table_schema("replicas"))
    views = order_views(run.findings, operations_table_of(path, is_keyed=None), replicas)
    return next(one for one in views if "is lost" in one.sentence)


def test_each_observer_has_a_row(view):
    assert view.offset == 1
    assert [line.split() for line in view.lines()[:4]] == [
        ["offset", "0", "1", "2", "3", "4", "5"],
        ["acknowledged", "*", "0.1", "0.2", "·", "·", "·", "·"],
        ["poll", "2", "of", "process", "1", "at", "5.000", "s", "0.1", "0.2", "·", "·", "·", "·"],
        ["final", "read", "0.1", "·", "·", "·", "·", "·"],
    ]
    replicas = [line.split()[4:8] for line in view.lines()[4:]]
    assert replicas == [["0.1", "e3", "·", "·"], ["0.1", "e3", "0.2", "e3"]]


def test_the_picture_marks_what_the_final_read_lacks(view):
    picture = ElementTree.fromstring(str(svg_of(view)))
    kinds = [one.get("class") for one in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds.count("mark") == 1
    assert kinds.count("cell other") == 3  # the acknowledgement, the poll, and the replica
    assert kinds.count("cell same") == 5


def test_explain_prints_the_records_and_writes_the_picture(tmp_path, capsys):
    path = written(tmp_path, [*STEPS, read("final", 1, end=2)])
    page = tmp_path / "why.html"
    assert kraftproof(["explain", str(path), "--html", str(page)]) == 1
    assert "Offset 1 of t-0" in capsys.readouterr().out
    assert "<svg" in page.read_text()
