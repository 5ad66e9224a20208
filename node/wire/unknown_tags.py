"""Keep unknown tagged fields of metadata records (KIP-482), for nodes that know the fields.

A newer node may add a tagged field to a known version. Image, snapshot and digest keep the field.
"""

from typing import Final

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.primitives import Reader, Writer

UnknownTags = tuple[tuple[int, bytes], ...]
"""The tag and content of each field, in the order of the wire."""
_LEAST_TAG_BYTES: Final = 2


def read_tags(reader: Reader) -> UnknownTags:
    """Return the fields of a section without known fields.

    Raises:
        WireError: the section has fewer fields than its count.
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
    """Write the unknown fields after the known fields; the section's count is already written."""
    for tag, content in tags:
        writer.uvarint(tag)
        writer.uvarint(len(content))
        writer += content
