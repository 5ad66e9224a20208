"""Applying a committed batch once for all simulated nodes that hold the same image before it.

It is a mode of most runs, for speed: a node whose image differs has its own result, but a bug of
one node's apply alone would not show. So the runs whose messages pass through the codec, whose
batches are objects of each node's own, do without. Not: what applying is (node.core.metadata).
"""

from collections import OrderedDict

from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records.batch import Batch

MAX_KEPT = 1024
"""As many batches as the slowest node may be behind the first, and still share."""


class SharedApply:
    """`apply_batch` with a memory; images are known by their digests."""

    __slots__ = ("_newest", "_results")

    def __init__(self) -> None:
        self._results: OrderedDict[tuple[int, int], tuple[Batch, MetadataImage]] = OrderedDict()
        """By the digest before and the batch's identity, which the entry keeps from reuse."""
        self._newest = 0
        """The highest offset of a batch; a node that replays from far back displaces none."""

    def __call__(self, image: MetadataImage, batch: Batch) -> MetadataImage:
        """Return the image after the batch.

        Raises:
            ApplyError: the batch does not fit the image.
        """
        key = (image.digest, id(batch))
        known = self._results.get(key)
        if known is not None:
            return known[1]
        after = apply_batch(image, batch)
        if batch.base_offset < self._newest and len(self._results) >= MAX_KEPT:
            return after
        self._newest = max(self._newest, batch.base_offset)
        self._results[key] = (batch, after)
        if len(self._results) > MAX_KEPT:
            self._results.popitem(last=False)
        return after

    def forget(self) -> None:
        """Forget the images, when no node applies records any more."""
        self._results.clear()
