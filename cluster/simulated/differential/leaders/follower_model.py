"""The log of a replica as a plain list of batches, with its producers and its retention."""

from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelBatch


class FollowerModel:
    """The log of a replica as a list; batches below the start stay for the producers."""

    def __init__(self) -> None:
        self.batches: list[ModelBatch] = []
        self.start = self.end = self.high_watermark = 0
        self.epochs: list[tuple[int, int]] = []
        self.producers: dict[int, list[ModelBatch]] = {}
        """The batches of each producer since its state has expired."""
        self.seen_ms: dict[int, int] = {}
        """The time at which the last batch of each producer was appended."""

    def append(self, batch: ModelBatch, now_ms: int) -> None:
        """Add a batch; an older epoch without records gives way."""
        self.producers.setdefault(batch.producer[0], []).append(batch)
        self.seen_ms[batch.producer[0]] = now_ms
        if not self.epochs or self.epochs[-1][0] < batch.epoch:
            self.epochs = [each for each in self.epochs if each[1] < batch.base]
            self.epochs.append((batch.epoch, batch.base))
        self.batches.append(batch)
        self.end = batch.end

    def truncate(self, end: int) -> None:
        """Remove the batches and the epochs at or above an offset."""
        self.batches = [batch for batch in self.batches if batch.end <= end]
        self.epochs = [each for each in self.epochs if each[1] < end]
        self.end = end
        kept = {
            each: [batch for batch in batches if batch.end <= end]
            for each, batches in self.producers.items()
        }
        self.producers = {each: batches for each, batches in kept.items() if batches}

    def restart(self, offset: int) -> None:
        """Remove every batch, and go on at an offset."""
        self.batches, self.epochs, self.producers = [], [], {}
        self.start = self.end = self.high_watermark = offset

    def follow(self, high_watermark: int, start: int) -> None:
        """Take the offsets of the leader, as far as this log has the records."""
        self.high_watermark = max(self.high_watermark, min(high_watermark, self.end))
        if self.start < start <= self.high_watermark:
            self.start = start
            upto = [each for each in self.epochs if each[1] <= start]
            later = [each for each in self.epochs if each[1] > start]
            self.epochs = [(upto[-1][0], start), *later] if upto else later

    def expire(self, before_ms: int) -> None:
        """Forget the producers without an append since a time."""
        for producer_id in list(self.producers):
            if self.seen_ms[producer_id] < before_ms:
                del self.producers[producer_id]

    def common(self, epoch: int, told: int) -> int:
        """Return the end of the part in common with a leader's log, of which an epoch ends.

        The end of the epoch in either log counts, and the end of the next smaller epoch if this log
        lacks the epoch. A leader whose epoch is newer than all has this log up to the leader's end.
        No cut is below the start, but for that last one, after which the log begins again.
        """
        if epoch > self.epochs[-1][0]:
            return min(told, self.end)
        ends = [start for _, start in self.epochs[1:]] + [self.end]
        known = [(one, end) for (one, _), end in zip(self.epochs, ends, strict=True)]
        upto = [each for each in known if each[0] <= epoch]
        own, end = upto[-1] if upto else (epoch, self.epochs[0][1])
        return max(min(told, end) if own == epoch else end, self.start)

    def held(self) -> list[ModelBatch]:
        """Return the batches that end above the start."""
        return [batch for batch in self.batches if batch.end > self.start]

    def retained(self, *, age_ms: int, size: int, now_ms: int) -> int:
        """Return the start that retention by age and size leaves; -1 for no limit."""
        held, start = self.held(), self.start
        for place, batch in enumerate(held):
            left = sum(len(each.data) for each in held[place + 1 :])
            is_old = 0 <= age_ms < now_ms - batch.time_ms
            if batch.end > self.high_watermark or not (is_old or 0 <= size <= left):
                break
            start = batch.end
        return start
