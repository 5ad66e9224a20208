"""Random cases: every API and version, names of every plane, and the same case from one seed."""

from collections import Counter
from random import Random

import pytest

from kraftproof.checkers.kraft.specification.settings import Legality, legality
from kraftproof.cluster.protocol import nodes_of
from kraftproof.cluster.systems.reference.requests.case import Case, Expects, Send
from kraftproof.cluster.systems.reference.requests.case_file import (
    CaseFile,
    CaseFileError,
    read_case,
    write_case,
)
from kraftproof.cluster.systems.reference.requests.configurations import draw_configurations
from kraftproof.cluster.systems.reference.requests.drawing import CaseShape, draw_case
from kraftproof.cluster.systems.reference.requests.frames import (
    SERVED,
    Listener,
    draw_frame,
    draw_incomplete,
    draw_whole,
)
from kraftproof.cluster.systems.reference.requests.harm import (
    OF_BROKERS,
    OF_QUORUM,
    is_harmless,
    read_payload,
)
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.configs.generated.topics import TOPIC_DEFINITIONS
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.frames import FrameSplitter
from kraftproof.node.wire.headers import split_request
from kraftproof.node.wire.messages import (
    create_topics_request,
    envelope_request,
    fetch_request,
    produce_request,
    vote_request,
)

NODES = nodes_of(controller=3, broker=3)
BEYOND = {"internal.segment.bytes", "local.retention.bytes", "local.retention.ms"}
"""Configurations without a value of interest."""
TOPIC_NAMES = {definition.name for definition in TOPIC_DEFINITIONS} - BEYOND
SHAPE = CaseShape(most_connections=3, most_frames=6)
SEND = Send(connection=1, frame=b"\0\0\0\2ab", expects=Expects.EITHER, about="x", cuts=(1, 5))


def words() -> Vocabulary:
    return Vocabulary(cluster_id="cluster", brokers=(4, 5, 6))


def listener(*, is_controller: bool) -> Listener:
    return Listener(is_controller=is_controller, vocabulary=words())


@pytest.mark.parametrize("is_controller", [False, True], ids=["broker", "controller"])
def test_every_served_version_of_every_api_is_drawn(is_controller: bool) -> None:
    random, drawn = Random(1), Counter()
    for _ in range(9_000):
        frame = draw_whole(listener(is_controller=is_controller), random)
        header, _ = split_request(frame.data[4:])
        drawn[header.api_key, header.version] += 1
        message = read_payload(frame.data[4:])
        assert message is not None
        is_silent = isinstance(message, produce_request.ProduceRequest) and message.acks == 0
        assert frame.expects is (Expects.NOTHING if is_silent else Expects.ANSWER)
    served = SERVED[is_controller].items()
    assert set(drawn) == {
        (key, version) for key, (low, high) in served for version in range(low, high + 1)
    }


def test_names_cover_planes_and_lengths() -> None:
    random, names = Random(2), set()
    for _ in range(4_000):
        message = read_payload(draw_whole(listener(is_controller=False), random).data[4:])
        if isinstance(message, create_topics_request.CreateTopicsRequest):
            names |= {topic.name for topic in message.topics}
    assert {"", ".", ".."} <= names
    assert {0, 248, 249, 250, 32_767} <= {len(name) for name in names}
    assert any("\0" in name for name in names)
    assert len({ord(char) >> 16 for name in names for char in name}) >= 12


def test_no_drawn_frame_harms_a_sound_cluster() -> None:
    random, judged = Random(3), Counter()
    for _ in range(4_000):
        frame = draw_frame(listener(is_controller=True), random)
        message = read_payload(frame.data[4:])
        if isinstance(message, envelope_request.EnvelopeRequest):
            message = read_payload(message.request_data)
        if isinstance(message, OF_BROKERS):
            judged["brokers"] += 1
            assert not 0 <= message.broker_id < 7_000
        elif isinstance(message, OF_QUORUM) and not isinstance(message, fetch_request.FetchRequest):
            judged["quorum"] += 1
            assert message.cluster_id not in {None, "", "cluster"}
    assert min(judged["brokers"], judged["quorum"]) > 100


@pytest.mark.parametrize(
    "message",
    [
        vote_request.VoteRequest(),
        vote_request.VoteRequest(cluster_id="cluster"),
        fetch_request.FetchRequest(replica_id=2),
        create_topics_request.CreateTopicsRequest(
            topics=(create_topics_request.CreatableTopic(name="a", num_partitions=201),)
        ),
    ],
)
def test_what_would_harm_is_known(message) -> None:
    assert not is_harmless(message, words())


def test_half_right_frames_are_of_many_kinds() -> None:
    random = Random(4)
    expected = Counter()
    for _ in range(2_000):
        expected[draw_frame(listener(is_controller=False), random).expects] += 1
    assert expected[Expects.EITHER] > 200
    assert expected[Expects.ANSWER] > 1_000


def test_an_incomplete_frame_is_none() -> None:
    random = Random(5)
    for _ in range(100):
        frame = draw_incomplete(listener(is_controller=False), random)
        assert FrameSplitter().feed(frame.data) == []
        assert frame.expects is Expects.NOTHING


def test_a_case_is_drawn_from_its_seed_alone() -> None:
    first, second = (draw_case(NODES, words(), SHAPE, Random(9)) for _ in range(2))
    assert first == second
    assert first != draw_case(NODES, words(), SHAPE, Random(10))


def test_a_file_holds_the_case(tmp_path) -> None:
    path = tmp_path / "case.json"
    for seed in range(20):
        content = CaseFile(case=draw_case(NODES, words(), SHAPE, Random(seed)), finding="late")
        write_case(path, content)
        assert read_case(path) == content


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x", "no case of kraftproof fuzz"),
        ("{}", "no case of kraftproof fuzz"),
        ('{"case": {"nodes": [], "sends": []}, "format": 2}', "format 2"),
        (
            '{"case": {"nodes": [], "sends": [{"connection": 0, "frame": "", '
            '"expects": "either", "about": ""}]}}',
            "a connection that the case does not have",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(tmp_path, text: str, problem: str) -> None:
    path = tmp_path / "case.json"
    path.write_text(text)
    with pytest.raises(CaseFileError, match=problem) as refused:
        read_case(path)
    assert "\n" not in str(refused.value)
    with pytest.raises(CaseFileError, match="No such file"):
        read_case(tmp_path / "none.json")


def test_segments_are_the_frame_cut_in_pieces() -> None:
    assert SEND.segments == (b"\0", b"\0\0\2a", b"b")
    assert Send(connection=0, frame=b"ab", expects=Expects.EITHER, about="").segments == (b"ab",)
    case = Case(nodes=(1,), sends=(SEND,))
    assert case.sends[0].segments
    assert set(REQUESTS) >= {18, 19, 20}


def test_configurations_have_every_name_and_are_at_and_beyond_their_limits() -> None:
    random = Random(4)
    drawn = [one for _ in range(9_000) for one in draw_configurations(random)]
    assert {name for name, _ in drawn} >= set(TOPIC_NAMES)
    values = {value for name, value in drawn if name == "segment.bytes"}
    assert values >= {"1048576", "1048575", str((1 << 31) - 1), str(1 << 31)}
    legal = [one for one in drawn if legality(*one) is Legality.LEGAL]
    illegal = [one for one in drawn if legality(*one) is Legality.ILLEGAL]
    assert min(len(legal), len(illegal)) > len(drawn) // 8
