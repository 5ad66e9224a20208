"""Ratios of two systems measured in turns, and the page that shows them."""

from dataclasses import replace

import pytest

from bench.beside import ratios
from bench.cluster.__main__ import parse
from bench.cluster.beside import METRICS, page
from bench.cluster.measure import Figures

OURS = Figures(
    system="reference",
    backend="docker",
    nodes="3+3",
    timeouts="chaos",
    start_s=2.0,
    first_topic_s=3.0,
    in_series_per_s=100.0,
    in_flight_per_s=200.0,
    failover_s=[1.0],
    failover_median_s=1.0,
    memory_mb=[30.0, 50.0],
)
THEIRS = replace(
    OURS,
    system="apache-kafka",
    first_topic_s=10.0,
    in_series_per_s=25.0,
    in_flight_per_s=20.0,
    failover_median_s=0.8,
    memory_mb=[200.0, 200.0],
)


def test_a_ratio_is_the_median_of_the_rounds_with_its_bounds() -> None:
    ours = [OURS, replace(OURS, in_series_per_s=50.0), replace(OURS, in_series_per_s=150.0)]
    series, flight, failover, start, memory = ratios(METRICS, ours, [THEIRS] * 3)
    assert (series.ours, series.theirs) == (100.0, 25.0)
    assert (series.ratio, series.least, series.most) == (4.0, 2.0, 6.0)
    assert (flight.ratio, start.ratio, memory.ratio) == (10.0, 0.3, 0.2)
    assert failover.ratio == pytest.approx(1.25)
    reached = [one.is_reached for one in (series, flight, failover, start, memory)]
    assert reached == [False, True, False, True, True]


def test_the_page_has_a_row_for_each_quantity_with_its_target() -> None:
    rows = [line for line in page([OURS] * 5, [THEIRS] * 5).splitlines() if line.startswith("| ")]
    assert rows[0] == "| | reference | apache-kafka | ratio | bounds | to reach | |"
    assert rows[1] == (
        "| createTopics RF 3 in series, 1/s | 100 | 25 | 4 | 4 to 4 | at least 5 | not reached |"
    )
    assert rows[-1] == (
        "| resident memory a node, MB | 40 | 200 | 0.2 | 0.2 to 0.2 | at most 0.25 | reached |"
    )
    assert len(rows) == 6
    assert "here 94%" in page([OURS] * 5, [THEIRS] * 5)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--nodes", "3"], "--nodes 3: controllers+brokers is expected, such as 3+3"),
        (["--topics", "9"], "--topics of at least 10"),
        (["--rounds", "0"], "--rounds of at least 1"),
        (["--beside", "zookeeper"], "invalid choice: 'zookeeper'"),
    ],
)
def test_options_that_measure_nothing_are_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(given)
    assert said in capsys.readouterr().err
