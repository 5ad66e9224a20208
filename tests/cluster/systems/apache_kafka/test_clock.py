"""The wall clock of a JVM, from the log of its safepoints."""

from pathlib import Path

from kraftproof.cluster.systems.apache_kafka.clock import CLOCK_LOG, wall_clock

LINES = (
    '[1795637440065ms][2040000000ns] Safepoint "SafepointALot", Time since last: 5 ns\n'
    '[1795637500569ms][2544000000ns] Safepoint "Cleanup", Time since last: 5 ns\n'
)


def test_the_last_whole_line_counts(tmp_path: Path) -> None:
    (tmp_path / CLOCK_LOG).write_text(LINES + "[1795637999999ms][30")
    assert wall_clock(tmp_path) == 1795637500569_000_000 - 2_544_000_000


def test_a_node_that_wrote_nothing_yet_reports_nothing(tmp_path: Path) -> None:
    assert wall_clock(tmp_path) is None
    (tmp_path / CLOCK_LOG).write_text("")
    assert wall_clock(tmp_path) is None
