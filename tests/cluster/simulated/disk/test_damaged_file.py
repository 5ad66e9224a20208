"""Bit rot: a node refuses each damaged file in one line, or recovers the same state."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.disk.bit_rot import (
    BitRot,
    _files_by_kind,
    batch_positions,
    draw_bit_rot,
    last_segment,
)
from kraftproof.cluster.simulated.disk.damaged_file import start_on_copy
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.stored import log_directory
from tests.cluster.simulated.faults.test_simulated_faults import Rig

pytestmark = pytest.mark.simulation
SAMPLE = 60
"""Damaged bytes of each file."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A controller with several epochs, closed segments and a snapshot on its disk."""
    rig = Rig(tmp_path_factory.mktemp("rot"))
    options = ClusterOptions(
        nodes=nodes_of(controller=3, broker=1),
        seed=3,
        directory=rig.cluster.options.directory,
        node_config=(
            ("metadata.log.segment.bytes", "2048"),
            ("metadata.log.max.record.bytes.between.snapshots", "6000"),
        ),
    )
    rig.cluster = SimulatedCluster(options)

    async def load():
        for victim in (1, 2, 3, 1, 2, 3):
            await rig.cluster.kill(victim)
            for _ in range(4):
                await rig.create()
            await rig.cluster.start_node(victim)
            await rig.sleep(2.0)

    rig.run(load)
    one = rig.machine(1)
    one.kill()
    return one


def paths(machine):
    directory = log_directory(machine._storage_config)
    kinds = _files_by_kind(machine.disk.list_directory(directory))
    assert all(kinds), f"closed segments, snapshots and quorum-state are there: {kinds}"
    return [[join(directory, name) for name in kind] for kind in kinds]


def mistake_of(machine, rot):
    return start_on_copy(machine.disk, rot, machine._open)


def damages(machine, path):
    data = machine.disk.read(path)
    for position in range(0, len(data), max(1, len(data) // SAMPLE)):
        bits = range(8) if chr(data[position]).isdigit() and len(data) < 500 else (position % 8,)
        for bit in bits:
            yield BitRot(path=path, position=position, original=data[position], mask=1 << bit)


@pytest.mark.parametrize("kind", [0, 1, 2], ids=["segment", "snapshot", "quorum-state"])
def test_a_flipped_bit_is_refused_or_has_no_effect(machine, kind):
    rots = [rot for path in paths(machine)[kind] for rot in damages(machine, path)]
    assert len(rots) >= 50
    mistakes = [mistake[:150] for rot in rots if (mistake := mistake_of(machine, rot))]
    assert mistakes == []


def test_a_flipped_bit_before_the_last_batch_of_the_log_is_no_torn_write(machine):
    directory = log_directory(machine._storage_config)
    [name] = last_segment(machine.disk.list_directory(directory))
    path = join(directory, name)
    data = machine.disk.read(path)
    begins = batch_positions(data)
    assert len(begins) > 1
    lengths = [begin + 8 + byte for begin in begins[:-1] for byte in range(4)]
    rots = [
        BitRot(path=path, position=position, original=data[position], mask=mask)
        for position in (*lengths, *range(0, begins[-1], 7))
        for mask in (1, 16, 128)
    ]
    mistakes = [mistake[:150] for rot in rots if (mistake := mistake_of(machine, rot))]
    assert mistakes == []


def test_the_last_batch_and_a_single_batch_are_left_alone(machine):
    directory = log_directory(machine._storage_config)
    [name] = last_segment(machine.disk.list_directory(directory))
    path, drawn = join(directory, name), []
    for seed in range(300):
        rot = draw_bit_rot(machine.disk, directory, Random(seed))
        drawn += [rot.position] if rot is not None and rot.path == path else []
    begins = batch_positions(machine.disk.read(path))
    assert max(drawn) < begins[-1]
    assert len({position for position in drawn if 8 <= position < 12}) > 1


def test_a_flipped_epoch_of_a_closed_segment_is_refused(machine):
    """The CRC of a batch does not cover its epoch: bytes 12 to 15."""
    rots = []
    for path in paths(machine)[0]:
        data, position = machine.disk.read(path), 0
        while position < len(data):
            rots += [
                BitRot(path=path, position=position + 15, original=data[position + 15], mask=mask)
                for mask in (1, 2, 4)
            ]
            position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
    assert len(rots) >= 10
    mistakes = [mistake[:150] for rot in rots if (mistake := mistake_of(machine, rot))]
    assert mistakes == []


def test_an_undamaged_file_is_no_candidate_until_it_is_synced(machine):
    drawn = draw_bit_rot(
        machine.disk, log_directory(machine._storage_config), machine.fault_random("x")
    )
    assert drawn is not None
    assert not drawn.is_present(machine.disk)
