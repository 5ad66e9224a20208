"""Compare scans of segments that are cut, continued by zeros or damaged with the reference."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import (
    named,
    refused,
    same,
)
from kraftproof.cluster.simulated.differential.wire.reference_batches import (
    HEADER_BYTES,
    PREFIX_BYTES,
    parse_fields,
)
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records import batches
from kraftproof.node.wire.records.batch import Batch

DAMAGES: Final = 8


def compare_scans(data: bytes, ends: list[int], log: list[Batch], random: Random) -> None:
    """Scan a segment, whole, cut, continued by zeros and damaged.

    Raises:
        DifferenceError: the node has another result than the reference.
    """
    begins = [0, *ends]
    kept = random.randrange(len(data) + 1)
    zeros = bytes(random.choice((0, 1, 11, 12, 13, 100)))
    for part in (data, data[:kept], data + zeros, data[:kept] + zeros):
        # a torn write: the node can't know whether zeros at the end of a batch were written
        expected = _whole_before(part, data, begins)
        _compare_scan(part, begins[: expected + 1], log, is_torn=None)
    for _ in range(DAMAGES):
        damaged, index = bytearray(data), random.randrange(len(log))
        begin, end = begins[index], begins[index + 1]
        at = random.choice((begin + random.randrange(16, end - begin), begin + 16, end - 1))
        damaged[at] ^= 1 << random.randrange(8)
        _compare_scan(bytes(damaged), begins[: index + 1], log, is_torn=end == len(data))
    _compare_lengths(data, begins, log, random)


def _whole_before(part: bytes, data: bytes, begins: list[int]) -> int:
    """Return the number of whole batches, also where zeros happen to continue a cut batch."""
    return sum(part[:end] == data[:end] for end in begins[1:] if end <= len(part))


def _compare_lengths(data: bytes, begins: list[int], log: list[Batch], random: Random) -> None:
    """Damage the length of a batch; sound batches after it show that no write was torn."""
    index = random.randrange(len(log))
    begin, is_last = begins[index], begins[index + 1] == len(data)
    right = begins[index + 1] - begin - PREFIX_BYTES
    for wrong in (right + 1, right - 1, 1 << 30, HEADER_BYTES - PREFIX_BYTES - 1, 0, -1):
        damaged = bytearray(data)
        damaged[begin + 8 : begin + PREFIX_BYTES] = wrong.to_bytes(4, "big", signed=True)
        is_torn = is_last and wrong > right
        if is_last and wrong < right and damaged[-1] == 0:
            continue  # zeros at the end count as unwritten
        _compare_scan(bytes(damaged), begins[: index + 1], log, is_torn=is_torn)
        if wrong == HEADER_BYTES - PREFIX_BYTES - 1:
            one = bytes(damaged)
            text = refused("a short batch", WireError, batches.decode_batches, one)
            named("a short batch", text, f"{HEADER_BYTES - 1} bytes", f"byte {begin}")


def _compare_scan(
    data: bytes, begins: list[int], log: list[Batch], *, is_torn: bool | None
) -> None:
    """Compare a scan that must end at the last of `begins`; None for a cut log."""
    found = list[tuple[int, int, batches.BatchHeader]]()
    error: WireError | None = None
    try:
        found.extend(batches.scan_batches(data))
    except WireError as raised:
        error = raised
    for (position, length, header), begin, batch in zip(found, begins, log, strict=False):
        same("the place of a batch", (position, length), (begin, _length(data, begin)))
        expected = batches.BatchHeader(
            base_offset=batch.base_offset,
            last_offset=batch.base_offset + len(batch.records) - 1,
            epoch=batch.epoch,
            timestamp_ms=batch.timestamp_ms,
            is_control=batch.is_control,
            count=len(batch.records),
        )
        same("the header of a batch", header, expected)
    same(f"batches before byte {begins[-1]}", len(found), len(begins) - 1)
    if error is None:
        same("the end of a scan", begins[-1], len(data))
        return
    what = f"the error at byte {begins[-1]} of {data.hex()}"
    torn = isinstance(error, batches.TornTailError)
    corrupt = isinstance(error, batches.CorruptBatchError)
    same(what, (torn, corrupt), (True, False) if is_torn is None else (is_torn, not is_torn))
    same(what, getattr(error, "position", None), begins[-1])
    named(what, str(error), f"byte {begins[-1]}")


def _length(data: bytes, begin: int) -> int:
    return PREFIX_BYTES + parse_fields(data[begin:])["length"]
