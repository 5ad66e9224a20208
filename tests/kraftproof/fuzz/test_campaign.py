"""A campaign finds nothing in the node as it is; a planted bug is found, shrunk and replayed.

The frames go over the production framing and connection code, in one process and virtual time.
"""

import pytest

from kraftproof.cluster.systems.reference.requests.case_file import (
    CaseFile,
    read_case,
    write_case,
)
from kraftproof.fuzz.campaign import Progress
from kraftproof.fuzz.session import FuzzOptions, campaign, replay, smaller
from kraftproof.node.server import requests

pytestmark = pytest.mark.simulation

FRAMES = 3_000


def options(frames: int, seed: int = 0) -> FuzzOptions:
    return FuzzOptions(
        backend="simulated",
        nodes="1+1",
        seed=seed,
        frames=frames,
        time_limit_s=None,
        mutant=None,
    )


@pytest.mark.parametrize("frames", [FRAMES, pytest.param(20_000, marks=pytest.mark.long)])
def test_many_frames_find_nothing(frames: int) -> None:
    progress = Progress()
    assert campaign(options(frames), progress, lambda _: None) is None
    assert progress.frames >= frames
    assert progress.connections > frames / 10


def test_a_planted_bug_is_found_shrunk_to_a_frame_and_replayed(tmp_path, monkeypatch) -> None:
    head = requests.encode_response_header

    def without_sign(correlation_id: int, version: int) -> bytes:
        return head(correlation_id & 0x7FFF_FFFF, version)

    with monkeypatch.context() as planted:
        planted.setattr(requests, "encode_response_header", without_sign)
        finding = campaign(options(300), Progress(), lambda _: None)
        assert finding is not None
        assert "correlation id" in finding.reason
        case = smaller(options(300), finding)
        assert len(case.sends) == 1
        write_case(tmp_path / "case.json", CaseFile(case=case, finding=finding.reason))
        read = read_case(tmp_path / "case.json").case
        again = replay(options(1), read)
        assert again is not None
        assert again.kind == finding.kind
    assert replay(options(1), read) is None
