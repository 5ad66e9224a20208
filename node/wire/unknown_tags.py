"""Tagged fields of metadata records that this node does not know (KIP-482), kept for whoever does.

A newer node may add such a field to a version that we know. Image, snapshot and digest keep it.
"""

from typing import Final

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer

UnknownTags = tuple[tuple[int, bytes], ...]
"""Each field's tag and content, in the order of the wire."""
_LEAST_TAG_BYTES: Final = 2


def read_tags(reader: Reader) -> UnknownTags:
    """Return the fields of a section that has none that is known.

    Raises:
        WireError: if the section does not hold as many fields as it counts.
    """
    count = reader.uvarint()
    if not count:
        return ()
    if count * _LEAST_TAG_BYTES > reader.remaining:
        raise WireError(f"{count} tagged fields in {reader.remaining} bytes")
    return tuple(
        [(reader.uvarint(), reader.take(reader.uvarint()).tobytes()) for _ in range(count)]
    )


def write_tags(writer: Writer, tags: UnknownTags) -> None:
    """Write the fields after the known ones; the section's count has been written."""
    for tag, content in tags:
        writer.uvarint(tag)
        writer.uvarint(len(content))
        writer += content
