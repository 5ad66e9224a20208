"""Histories of one partition: verdicts, findings in words, and the two readers of their texts."""

import json
from random import Random

import numpy as np
import pyarrow.compute as pc
import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.logs.judge import NO_FINAL_READ, NO_SEND
from kraftproof.checkers.logs.model import Log
from kraftproof.checkers.logs.reading import unpack
from kraftproof.checkers.logs.reading.unpack import unpacked
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import FindingKind
from tests.checkers.logs.small import small_history

SECOND = 1_000_000_000


def event(process, kind, f, value, time):
    return {"process": process, "type": kind, "f": f, "key": "t-0", "value": value, "time": time}


def send(value, offset, acks=-1, idempotent=True, status="ok", process=0):
    asked = {"value": value, "acks": acks, "idempotent": idempotent}
    return process, "send", asked, {"offset": offset}, status


def read(f, position, *records, log_start=0, end=None, process=1):
    end = max((offset + 1 for offset, _ in records), default=0) if end is None else end
    answer = {"records": [list(one) for one in records], "log_start": log_start, "end": end}
    return process, f, {"position": position}, answer, "ok"


def written(tmp_path, steps, pause=SECOND):
    lines, time = [], 0
    for process, f, asked, told, status in steps:
        for kind, value in (("invoke", asked), (status, told)):
            lines.append({"index": len(lines), **event(process, kind, f, value, time)})
            time += pause
    path = tmp_path / "h.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged(tmp_path, *steps):
    (run,) = check_paths([written(tmp_path, steps)])
    return run


A, B = "0.1@k3f9a", "0.2@k3f9a"


def test_a_record_that_came_after_the_final_read_is_not_lost(tmp_path):
    final = read("final", None, (0, A))
    late = read("poll", 1, (1, B))
    assert judged(tmp_path, send(A, 0), final, send(B, 1), late).verdict == "valid"
    loose = send(B, None)
    assert judged(tmp_path, send(A, 0), final, loose).verdict == "valid"


def test_an_offset_below_the_end_of_the_final_read_is_taken_for_ever(tmp_path):
    run = judged(tmp_path, send(A, 0), read("final", None, (0, A)), send(B, 0))
    assert {one.check for one in run.findings} >= {"log/lost"}
    before = judged(tmp_path, send(A, 0), send(B, 1), read("final", None, (0, A)))
    assert [one.check for one in before.findings] == ["log/lost"]


def test_a_partition_whose_sends_are_read_at_the_end_is_valid(tmp_path):
    final = read("final", None, (0, A), (1, B))
    run = judged(tmp_path, send(A, 0), send(B, 1), read("poll", 0, (0, A)), final)
    assert (run.model, run.verdict, run.notes) == ("log", "valid", ())


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([send(A, None, status="info"), read("final", None)], NO_SEND),
        ([send(A, 0), read("poll", 0, (0, A))], NO_FINAL_READ),
        ([send(A, 0), send(B, 1), read("final", None, (0, A), end=2)], NO_FINAL_READ),
        ([send(A, 0), send(B, 1), read("final", 1, (1, B))], NO_FINAL_READ),
    ],
)
def test_a_partition_with_nothing_to_compare_is_unknown(tmp_path, steps, reason):
    run = judged(tmp_path, *steps)
    assert run.verdict == "unknown"
    assert reason in run.notes[0]


def test_a_loss_is_named_with_its_offset_its_time_and_what_stands_there(tmp_path):
    run = judged(tmp_path, send(A, 0), send(B, 0), read("final", None, (0, B)))
    lost = next(one for one in run.findings if one.check == "log/lost")
    assert run.verdict == "invalid"
    assert (lost.operation_index, lost.log_offset, lost.time_ns) == (0, 0, SECOND)
    assert f'send "{A}" to t-0 was acknowledged at offset 0 and is lost at 1.000 s' in lost.sentence
    assert f'the final read found "{B}" at the offset' in lost.sentence


@pytest.mark.parametrize("acks", [0, 1])
def test_a_loss_with_fewer_acknowledgements_is_declared(tmp_path, acks):
    steps = [
        send(A, None if acks == 0 else 0, acks=acks),
        send(B, 0),
        read("final", None, (0, B)),
    ]
    run = judged(tmp_path, *steps)
    assert run.verdict == "valid"
    assert [(one.check, one.kind) for one in run.findings] == [("log/lost", FindingKind.DECLARED)]


def test_records_that_retention_deleted_are_no_loss(tmp_path):
    last = read("final", None, (1, B), log_start=1)
    assert (
        judged(tmp_path, send(A, 0), send(B, 1), read("poll", 0, (0, A)), last).verdict == "valid"
    )


@pytest.mark.parametrize(
    ("kind", "guarantee", "wanted"),
    [
        ("lose-unsynced", "replicated", FindingKind.DECLARED),
        ("kill", "replicated", FindingKind.SAFETY),
        ("lose-unsynced", "linearizable", FindingKind.SAFETY),
    ],
)
def test_a_loss_of_unsynced_writes_is_declared_where_the_system_says_so(
    tmp_path, kind, guarantee, wanted
):
    span = FaultSpan(name="f", kind=kind, target="node 1", start=0)
    options = CheckOptions(faults=(span,), guarantees={"send": guarantee})
    rows = table(tmp_path, send(A, 0), send(B, 1), read("final", None, (0, A), end=1))
    findings, _ = Log().judge_rows("t-0", rows, options)
    assert [(one.check, one.kind) for one in findings] == [("log/lost", wanted)]


def table(tmp_path, *steps):
    from kraftproof.checkers.history.read import operations_table_of

    return operations_table_of(written(tmp_path, steps), is_keyed=None)


@pytest.mark.parametrize(("position", "is_stale"), [(0, True), (1, False)])
def test_a_poll_without_records_long_after_an_acknowledgement_is_stale(
    tmp_path, position, is_stale
):
    polls = [read("poll", position, end=0)] * 3
    path = written(tmp_path, [send(A, 0), *polls, read("final", None, (0, A))], pause=3 * SECOND)
    (run,) = check_paths([path])
    assert run.verdict == "valid"
    assert [one.check for one in run.findings] == ["log/stale"] * is_stale
    for one in run.findings:
        assert one.kind is FindingKind.AVAILABILITY
        assert "waited there for at least 15.0 s, at most 21.0 s" in one.sentence


@pytest.mark.parametrize(
    "wrong",
    [
        (0, "send", {"value": A, "acks": 2}, None, "info"),
        (0, "send", {"value": A}, {"offset": -1}, "ok"),
        (0, "poll", {"position": "x"}, {"records": []}, "ok"),
        (0, "poll", {"position": 0}, {"records": [[0]]}, "ok"),
        (0, "final", [["poll"]], {"records": []}, "ok"),
    ],
)
def test_another_form_is_refused_with_file_and_field(tmp_path, wrong):
    path = written(tmp_path, [send(A, 0), wrong])
    with pytest.raises(ValueError, match=r"h\.jsonl:\d+: field value: "):
        list(check_paths([path], model="log"))


def test_more_findings_of_a_kind_are_counted(tmp_path):
    steps = [send(f"0.{number}@a", number) for number in range(25)]
    run = judged(tmp_path, *steps, read("final", None, end=0))
    lost = [one for one in run.findings if one.check == "log/lost"]
    assert len(lost) == 10
    assert sum("15 more of this kind" in one.sentence for one in lost) == 1


def frames(facts):
    return [
        [getattr(frame, name).tolist() for name in frame.__dataclass_fields__]
        for frame in (facts.sends, facts.reads, facts.polls)
    ]


def test_the_compiled_readers_read_what_the_decoder_reads():
    for seed in range(300):
        rows = operations_table(small_history(Random(seed)))
        decoded, values = unpacked(rows, is_compiled=False)
        scanned, numbering = unpacked(rows, is_compiled=True)
        assert frames(scanned) == frames(decoded), seed
        assert numbering.run == values.run
        assert numbering.texts == values.texts


def test_the_compiled_readers_leave_odd_texts_to_the_decoder(tmp_path):
    """Texts with spaces, another order of fields, a sign, or a value of another run."""
    rows = table(tmp_path, send(A, 0), send(B, 1), read("final", None, (0, A), (1, B)))
    place = rows.column_names.index("input")
    odd = rows.column("input").to_pylist()
    odd[0] = '{"acks": -1, "idempotent": true, "value": "' + A + '"}'
    changed = rows.set_column(place, "input", [odd])
    both = [unpacked(each, is_compiled=True)[0] for each in (rows, changed)]
    assert frames(both[0]) == frames(both[1])
    assert np.array_equal(both[0].sends.acks, [-1, -1])


def test_a_part_of_a_history_without_sends_is_read_by_the_compiled_readers(tmp_path, monkeypatch):
    """A worker of Spark may get the final reads alone; to decode these took most of its time."""
    rows = table(tmp_path, send(A, 0), send(B, 1), read("final", None, (0, A), (1, B)))
    polls = rows.filter(pc.not_equal(rows.column("f"), "send"))
    decoded, values = unpacked(polls, is_compiled=False)
    monkeypatch.setattr(unpack, "_decoded", None)
    scanned, numbering = unpacked(polls, is_compiled=True)
    assert frames(scanned) == frames(decoded)
    assert (numbering.run, values.run) == ("k3f9a", "k3f9a")
