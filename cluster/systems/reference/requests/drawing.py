"""Draw a case: pipelined frames on one or several connections, some cut into segments."""

import struct
from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.systems.reference.requests.case import Case, Expects, Send
from kraftproof.cluster.systems.reference.requests.frames import (
    Frame,
    Listener,
    draw_frame,
    draw_incomplete,
    draw_whole,
)
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.controller.decisions import DECISIONS

INCOMPLETE_SHARE: Final = 0.1
"""Share of connections that end within a frame."""
CUT_SHARE: Final = 0.15
"""Share of frames that are sent in segments."""
PAUSE_SHARE: Final = 0.1
"""Share of frames with a pause before them; the others follow at once."""
PAUSES_MS: Final = (1, 5, 50)
MOST_FLOOD_BYTES: Final = 200
"""Largest frame of a flood."""
OF_CONTROLLER: Final = frozenset(message.API_KEY for message in DECISIONS)
"""API keys of requests that wait for the decision of the controller."""
SIZE_BYTES: Final = 4
API_KEY: Final = struct.Struct(">h")


class CaseShape(Struct, frozen=True, kw_only=True):
    """The size of the cases to draw."""

    most_connections: int
    most_frames: int
    """Largest number of frames of a connection."""


def draw_case(
    nodes: Sequence[NodeInfo], vocabulary: Vocabulary, shape: CaseShape, random: Random
) -> Case:
    """Return a case for the nodes of a cluster."""
    chosen = [random.choice(nodes) for _ in range(random.randint(1, shape.most_connections))]
    queues = [
        [
            _send(connection, frame, random)
            for frame in _frames(
                Listener(is_controller=node.has("controller"), vocabulary=vocabulary),
                random.randint(1, shape.most_frames),
                random,
            )
        ]
        for connection, node in enumerate(chosen)
    ]
    return Case(nodes=tuple(node.node_id for node in chosen), sends=tuple(_merged(queues, random)))


def draw_flood(
    nodes: Sequence[NodeInfo], vocabulary: Vocabulary, count: int, random: Random
) -> Case:
    """Return a case of many equal well-formed requests on one connection, sent at once.

    A node takes only a number of requests at a time from a connection, and must go on with the
    rest.
    """
    node = random.choice(nodes)
    listener = Listener(is_controller=node.has("controller"), vocabulary=vocabulary)
    frame = draw_whole(listener, random)
    while not _can_flood(frame):
        frame = draw_whole(listener, random)
    sends = tuple(_send(0, frame, random, is_whole=True) for _ in range(count))
    return Case(nodes=(node.node_id,), sends=sends)


def _can_flood(frame: Frame) -> bool:
    """Return whether a frame is small, has a bound for its answer, and waits for the controller."""
    (api_key,) = API_KEY.unpack_from(frame.data, SIZE_BYTES)
    is_small = frame.within_ms is not None and len(frame.data) <= MOST_FLOOD_BYTES
    return is_small and api_key in OF_CONTROLLER


def _frames(listener: Listener, count: int, random: Random) -> list[Frame]:
    """Return the frames of a connection; the first that may end the connection is the last."""
    frames: list[Frame] = []
    while len(frames) < count:
        frames.append(draw_frame(listener, random))
        if frames[-1].expects is not Expects.ANSWER and random.random() < 0.9:
            return frames
    if random.random() < INCOMPLETE_SHARE:
        frames.append(draw_incomplete(listener, random))
    return frames


def _send(connection: int, frame: Frame, random: Random, *, is_whole: bool = False) -> Send:
    """Return the send of a frame, some in segments or after a pause unless the send is whole."""
    if is_whole:
        return Send(
            connection=connection,
            frame=frame.data,
            expects=frame.expects,
            about=frame.about,
            within_ms=frame.within_ms,
        )
    cuts: tuple[int, ...] = ()
    if random.random() < CUT_SHARE:
        count = random.choice((1, 1, 3))
        cuts = tuple(sorted(random.randrange(1, len(frame.data) + 1) for _ in range(count)))
    return Send(
        connection=connection,
        frame=frame.data,
        expects=frame.expects,
        about=frame.about,
        within_ms=frame.within_ms,
        after_ms=random.choice(PAUSES_MS) if random.random() < PAUSE_SHARE else 0,
        cuts=cuts,
    )


def _merged(queues: list[list[Send]], random: Random) -> list[Send]:
    """Return the sends of all connections, each connection's in order."""
    merged: list[Send] = []
    waiting = [queue for queue in queues if queue]
    while waiting:
        queue = random.choice(waiting)
        merged.append(queue.pop(0))
        waiting = [queue for queue in waiting if queue]
    return merged
