"""The output of a node in a loop has a limit: its first and last part stay, around a line."""

import subprocess
import sys
import time

import pytest

from kraftproof.cluster.remote.output_limit import (
    MARK_BYTES,
    left_out_bytes,
    limit_output,
    output_size,
    read_output,
    write_output,
)

KEPT = 1 << 12
LOOP = "import sys\nfor n in range({count}): sys.stdout.write(f'line {{n}}\\n')"


def lines_of(path):
    return path.read_text().splitlines()


def test_a_short_output_stays_as_it_is(tmp_path):
    output = tmp_path / "output.log"
    limit_output(output, KEPT)  # no file yet
    for text in ("", "one line\n", "x" * 4 * KEPT):
        output.write_text(text)
        limit_output(output, KEPT)
        assert output.read_text() == text
        assert left_out_bytes(output, KEPT) == 0


def test_the_first_and_the_last_part_stay_around_a_line(tmp_path):
    output = tmp_path / "output.log"
    written = "".join(f"line {n}\n" for n in range(5000))
    output.write_text(written)
    limit_output(output, KEPT)
    kept = output.read_text()
    assert len(kept) <= 2 * KEPT + MARK_BYTES
    assert kept[:KEPT] == written[:KEPT]
    left_out = left_out_bytes(output, KEPT)
    last = written[KEPT + left_out :]
    assert len(last) > KEPT - 20  # all but the rest of a line
    assert kept[KEPT:].splitlines()[1].startswith("[kraftproof: ")
    assert f" {left_out} bytes of the output were left out here" in kept
    assert kept[KEPT + MARK_BYTES :] == last
    assert last.startswith("line ")


def test_what_is_left_out_later_is_counted_as_well(tmp_path):
    output, written = tmp_path / "output.log", ""
    for begin in range(0, 20_000, 1000):
        text = "".join(f"line {n}\n" for n in range(begin, begin + 1000))
        written += text
        with output.open("a") as file:
            file.write(text)
        limit_output(output, KEPT)
    assert output.stat().st_size <= 4 * KEPT
    kept = output.read_text()
    assert kept.count("[kraftproof: ") == 1
    assert kept[:KEPT] == written[:KEPT]
    assert kept[KEPT + MARK_BYTES :] == written[KEPT + left_out_bytes(output, KEPT) :]


def test_an_output_that_comes_in_blocks_is_written_anew(tmp_path):
    output = tmp_path / "output.log"
    output.write_text("of an earlier start")
    write_output(output, (b"line %d\n" % n for n in range(100)), KEPT)
    assert lines_of(output) == [f"line {n}" for n in range(100)]
    write_output(output, (b"line %d\n" % n for n in range(20_000)), KEPT)
    lines = lines_of(output)
    assert output.stat().st_size <= 4 * KEPT
    assert left_out_bytes(output, KEPT) > KEPT
    assert (lines[0], lines[-1]) == ("line 0", "line 19999")


def test_a_text_like_the_line_elsewhere_is_a_text_of_the_node(tmp_path):
    output = tmp_path / "output.log"
    output.write_text("".join(f"line {n}\n" for n in range(5000)))
    limit_output(output, KEPT)
    mark = output.read_bytes()[KEPT : KEPT + MARK_BYTES]
    output.write_bytes(b"x" * (KEPT + 1) + mark)
    assert left_out_bytes(output, KEPT) == 0


def test_a_process_that_prints_meanwhile_goes_on_at_the_end(tmp_path):
    output = tmp_path / "output.log"
    with output.open("ab") as file:
        command = [sys.executable, "-c", LOOP.format(count=300_000)]
        process = subprocess.Popen(command, stdout=file)
    most = 0
    while process.poll() is None:
        limit_output(output, KEPT)
        most = max(most, output.stat().st_size)
        time.sleep(0.001)
    limit_output(output, KEPT)
    lines = lines_of(output)
    assert lines[0] == "line 0"
    assert lines[-1] == "line 299999"
    assert output.stat().st_size <= 4 * KEPT
    assert left_out_bytes(output, KEPT) > 1 << 20
    numbers = [int(line.split()[1]) for line in lines if line.startswith("line ")]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("kept", [1 << 16])
def test_a_line_longer_than_the_last_part_is_cut(tmp_path, kept):
    output = tmp_path / "output.log"
    output.write_bytes(b"x" * 10 * kept)
    limit_output(output, kept)
    assert output.stat().st_size == 2 * kept + MARK_BYTES
    assert left_out_bytes(output, kept) == 8 * kept


def test_a_reader_goes_on_behind_what_was_left_out(tmp_path):
    output, written, read, place, skipped = tmp_path / "output.log", "", {}, 0, 0
    for begin in range(0, 20_000, 500):
        text = "".join(f"line {n}\n" for n in range(begin, begin + 500))
        written += text
        with output.open("a") as file:
            file.write(text)
        for _ in range(2):
            at, found = read_output(output, place, 1500, KEPT)
            skipped += at - place
            read[at] = found
            place = at + len(found)
        limit_output(output, KEPT)
    assert skipped > 10 * KEPT
    assert all(found.decode() == written[at : at + len(found)] for at, found in read.items())
    while True:
        at, found = read_output(output, place, 1500, KEPT)
        if not found:
            break
        assert found.decode() == written[at : at + len(found)]
        place = at + len(found)
    assert place == len(written) == output_size(output, KEPT)
    assert output_size(tmp_path / "no.log") == 0
