"""A fault is a line of text and back, whichever planner drew it; a line that is none says why."""

from dataclasses import dataclass
from random import Random
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftproof.cluster.protocol import Capability, Link
from kraftproof.nemesis import schedule_file
from kraftproof.nemesis.catalogue import nemesis_names, planner
from kraftproof.nemesis.fault import ACTIVE_CONTROLLER, STANDBY_CONTROLLER, Role
from kraftproof.nemesis.one_node import OneNode
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.schedule import SECOND_NS, Scheduled, dense
from kraftproof.nemesis.schedule_file import (
    ScheduleFileError,
    fault_line,
    parse_fault_line,
    parse_seconds,
    seconds_text,
)
from tests.nemesis.test_schedule import nodes

ALL = tuple(nemesis_names())


def scheduled(fault, kind=None):
    return Scheduled(name="f0", kind=kind or fault.kind, at_ns=1, until_ns=SECOND_NS, fault=fault)


@given(name=st.sampled_from(ALL), seed=st.integers(0, 10_000))
def test_the_faults_of_every_planner_are_lines_and_back(name, seed):
    one = scheduled(planner(name)(Random(seed), nodes()))
    line = fault_line(one)
    assert "\n" not in line
    assert parse_fault_line(line, "f0") == one


@given(seed=st.integers(0, 1000))
def test_whole_schedules_with_their_stories_are_lines_and_back(seed):
    schedule = dense(ALL, nodes(5, 3), Random(seed), 20 * SECOND_NS)
    assert schedule
    for one in schedule:
        assert parse_fault_line(fault_line(one), one.name) == one


def test_a_line_can_be_read_by_a_person():
    cut = Cut(
        shape="laggard",
        around=Role(name=STANDBY_CONTROLLER, choice=1),
        others=(Role(name=ACTIVE_CONTROLLER), 5),
        direction="out",
    )
    line = "0.000000001 1 partition shape=laggard around=@standby-controller/1 "
    assert fault_line(scheduled(cut)) == line + "others=@active-controller,5 direction=out"
    links = Cut(shape="x", links=(Link(1, 2), Link(2, 1)))
    assert fault_line(scheduled(links)).endswith("partition shape=x links=1>2,2>1")


@given(st.integers(0, 10**15))
def test_times_are_exact(time_ns):
    assert parse_seconds(seconds_text(time_ns)) == time_ns


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 2", "a start, an end and a kind of fault are expected"),
        ("1 x kill target=1", "'x' is no time in seconds, such as 1.25"),
        ("1.0000000001 2 kill target=1", "'1.0000000001' is no time in seconds"),
        ("2 1 kill target=1", "it ends at 1 s, not after it begins"),
        ("1 2 storm target=1", "storm: unknown fault: one of kill, "),
        ("1 2 kill", "kill: target is missing"),
        ("1 2 kill target", "kill: 'target' is none of its fields: target"),
        ("1 2 kill victim=1", "kill: 'victim=1' is none of its fields: target"),
        ("1 2 kill target=1 target=2", "kill: target is there twice"),
        ("1 2 kill target=one", "kill: target=one: a whole number is expected; or a role such as"),
        ("1 2 partition shape=x links=1-2", "links=1-2: a link such as 1>2 is expected"),
        ("1 2 partition shape=x direction=up", "direction=up: one of both, in, out is expected"),
        ("1 2 partition shape=x around=one", "around=one: "),
        ("1 2 partition shape=x around=one", "; or none is expected"),
        ('1 2 partition shape="x', "its quotation marks don't match"),
        ("1 2 clock target=1 offset_ns=1.5", "offset_ns=1.5: a whole number is expected"),
    ],
)
def test_a_line_that_is_none_says_what_is_wrong(line, said):
    with pytest.raises(ScheduleFileError) as caught:
        parse_fault_line(line, "f0")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    share: float
    names: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(OneNode):
    """A fault with every type of field that has a text."""

    kind: ClassVar[str] = "odd"
    requires: ClassVar[Capability] = Capability.KILL
    part: Part = Part(share=0.5)
    pair: tuple[int, str] = (1, "a b")
    text: str = ""
    number: float | None = None


def plan_odd(random, nodes, /) -> Odd:
    del random, nodes
    return Odd(target=1)


@given(
    share=st.floats(allow_nan=False, allow_infinity=False),
    text=st.text(),
    number=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    names=st.booleans(),
)
def test_values_of_every_type_are_text_and_back(share, text, number, names):
    fault = Odd(
        target=Role(name="x"),
        part=Part(share=share, names=names),
        pair=(-3, text),
        text=text,
        number=number,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule_file, "nemesis_names", lambda: ("odd",))
        patch.setattr(schedule_file, "planner", lambda name: plan_odd)
        assert parse_fault_line(fault_line(scheduled(fault)), "f0").fault == fault
