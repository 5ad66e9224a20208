"""Compare the replicas of a broker with the image, over topics, failures, answers and restarts."""

from collections.abc import Iterable
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.bare_data_plane import FIRST_BROKER_EPOCH
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.placements.controlled_image import (
    Answer,
    ControlledImage,
    logs_of,
    moved,
    new_topic,
    replaced,
)
from kraftproof.cluster.simulated.differential.placements.placed_broker import (
    ANOTHER,
    BROKER,
    DIRECTORIES,
    OTHER,
    PlacedBroker,
    Told,
    assigned_in,
)
from kraftproof.cluster.simulated.differential.placements.sizes import SegmentSizes
from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import CreateLog
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

STEPS: Final = 50
LAST_ROUNDS: Final = 8
OLD_SHARE: Final = 0.2
"""Share of topics that a metadata.version without directories has written."""
MOVES: Final = 0.05
"""Share of steps that move a replica of which a report is under way."""
CONTROLLERS: Final = (8, 9)
LONGEST_BACKOFF_MS: Final = 10_000
_UNKNOWN: Final = Uuid(b"unknown director")
_RESERVED: Final = (MIGRATING, UNASSIGNED, LOST)


def compare_placements(random: Random) -> None:
    """Change topics and directories, and compare each log and each report with the image.

    Raises:
        DifferenceError: a log is elsewhere, is missing or is left over, or a report is false.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()
    run.settle()


class _Run:
    """The broker, and the model of its logs."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._controller = ControlledImage(random)
        self._image = self._controller.image
        """The image of the broker, which may be older than that of the controller."""
        self._late, self._most_late = 0, random.choice((0, 4))
        """Number of changes that the broker's image lags, and the most of them."""
        self._sizes = SegmentSizes(random, BROKER)
        self._online = list(DIRECTORIES[: random.choice((1, 2, 3, 3))])
        self._has_failed = len(self._online) < len(DIRECTORIES)
        self._logs: dict[LogId, Uuid] = {}
        """The directory of each log on the disk, also in failed directories."""
        self._working: dict[LogId, Uuid] = {}
        """The directory of each log that the process has."""
        self._offline: set[LogId] = set()
        self._left: list[LogId] = []
        """The replicas that were moved away from the broker."""
        self._topics, self._most = 0, random.choice((1, 3, 50))
        self._broker = self._started()
        self._expect_start()

    def step(self) -> None:
        """Change something, and compare the logs."""
        if self._broker.told and self._random.random() < MOVES:
            self._move_told(self._random.choice(self._broker.told))
        else:
            self._change()
        self._compare()

    def _change(self) -> None:
        random, logs = self._random, sorted(self._controller.assigned())
        kind = random.uniform(0.22 * (len(logs) >= self._most), 1)
        if not logs or kind < 0.22:
            self._create()
        elif kind < 0.26:
            topic_id = random.choice(logs).topic_id
            self._publish(records.RemoveTopicRecord(topic_id=topic_id))
        elif kind < 0.42:
            self._leave_or_return(random.choice(logs))
        elif kind < 0.56:
            place = random.choice((*DIRECTORIES, UNASSIGNED, _UNKNOWN))
            told = [log for log in logs if log in self._controller.told]
            self._publish(moved(random.choice(told or logs), place))
        elif kind < 0.59 and len(self._online) > 1:
            self._fail(random.choice(self._online))
        elif kind < 0.62:
            self._restart()
        elif kind < 0.67:
            self._broker.controller = random.choice((*CONTROLLERS, -1))
            self._broker.advance()
        elif kind < 0.72:
            self._broker.pass_time(random.choice((100, LONGEST_BACKOFF_MS)))
        elif self._broker.told:
            self._answer(random.choice(self._broker.told), random.random())

    def settle(self) -> None:
        """Let a controller carry out every report, and compare the image with the logs."""
        self._broker.controller = CONTROLLERS[0]
        for told in list(self._broker.told):
            self._move_told(told)
        self._most_late = 0
        self._follow()
        for _ in range(LAST_ROUNDS):
            self._broker.pass_time(LONGEST_BACKOFF_MS)
            self._compare()
            for told in list(self._broker.told):
                self._answer(told, 1.0)
        for log, assigned in sorted(assigned_in(self._image).items()):
            if log in self._working:
                same(f"the directory of {log} in the image", assigned, self._working[log])
            else:
                is_working = assigned in {MIGRATING, UNASSIGNED, *self._online}
                check(f"the image knows that {log} is offline", not is_working)

    def _publish(self, *written: Record) -> None:
        """Commit records; the broker's image follows at once, or later with further records."""
        self._controller.commit(*written)
        self._late += 1
        if self._random.randint(0, self._most_late) < self._late:
            self._follow()

    def _follow(self) -> None:
        """Give the broker the image of the controller, and change the model by this image."""
        self._judge_reports()
        self._late = 0
        self._controller.commit(*self._sizes.change(self._controller.image))
        self._image = self._controller.image
        assigned = assigned_in(self._image)
        gone = [log for log in (*self._working, *self._offline) if log not in assigned]
        kept = {log.topic_id for log in assigned}
        self._remove([log for log in gone if log.topic_id not in kept])
        for topic_id in sorted(kept):
            self._remove([log for log in gone if log.topic_id == topic_id])
            ours = {log: place for log, place in assigned.items() if log.topic_id == topic_id}
            self._place(ours, is_start=False)
        self._broker.follow(self._image, self._controller.take_written())

    def _remove(self, logs: Iterable[LogId]) -> None:
        """Remove logs that have left the broker; those of failed directories stay on the disk."""
        for log in logs:
            self._offline.discard(log)
            if self._working.pop(log, None) is not None:
                del self._logs[log]

    def _place(self, assigned: dict[LogId, Uuid], *, is_start: bool) -> None:
        """Create the missing logs in the model, in order."""
        for log in sorted(assigned):
            if log in self._working or log in self._offline:
                continue
            place = assigned[log]
            if place not in self._online:
                is_lost = self._has_failed and (is_start or place not in _RESERVED)
                if is_lost:
                    self._offline.add(log)
                    continue
                held = list(self._working.values())
                place = min(self._online, key=held.count)
            self._logs[log] = self._working[log] = place

    def _create(self) -> None:
        """Create a topic with replicas in drawn directories."""
        random = self._random
        self._topics += 1
        place = random.choice((UNASSIGNED, UNASSIGNED, UNASSIGNED, MIGRATING, *DIRECTORIES))
        is_old = random.random() < OLD_SHARE
        places = () if is_old else (ANOTHER, place)
        self._publish(*new_topic(self._topics, random.choice((1, 2, 4)), places))

    def _leave_or_return(self, log: LogId) -> None:
        """Move a replica away from the broker, or one that has left back to the broker."""
        left = [one for one in self._left if one.topic_id in self._controller.image.topics]
        is_return = left and self._random.random() < 0.6
        self._publish(self._return(self._random.choice(left)) if is_return else self._leave(log))

    def _leave(self, log: LogId) -> Record:
        self._left.append(log)
        return replaced(log, (OTHER,), (ANOTHER,))

    def _return(self, log: LogId) -> Record:
        self._left.remove(log)
        place = self._random.choice((UNASSIGNED, UNASSIGNED, *DIRECTORIES))
        return replaced(log, (OTHER, int(BROKER)), (ANOTHER, place))

    def _move_told(self, told: Told) -> None:
        """Move a replica away and back after its report, in one image, or before the answer."""
        is_carried_out = self._random.random() < 0.5
        if is_carried_out:
            answer, changes = self._controller.carry_out(told.message, is_whole=True)
            self._controller.commit(*changes)
            self._broker.answer(told, answer)
        logs = sorted(logs_of(told.message).keys() & self._controller.assigned().keys())
        if logs:
            log = self._random.choice(logs)
            self._publish(self._leave(log), self._return(log))
        if not is_carried_out and told in self._broker.told:
            self._answer(told, 1.0)

    def _fail(self, directory: Uuid) -> None:
        """Lose a directory while the broker runs."""
        self._online.remove(directory)
        self._has_failed = True
        for log in [log for log, place in self._working.items() if place == directory]:
            del self._working[log]
            self._offline.add(log)
        self._broker.fail(directory)

    def _restart(self) -> None:
        """Start another process, with all directories or with some of them.

        Its registration comes after all records of the controller.
        """
        random = self._random
        self._follow()
        self._online = [one for one in DIRECTORIES if random.random() < 0.7] or [DIRECTORIES[0]]
        self._has_failed = len(self._online) < len(DIRECTORIES)
        self._broker = self._started()
        self._expect_start()
        self._compare()

    def _started(self) -> PlacedBroker:
        return PlacedBroker(
            self._image,
            self._online,
            self._logs,
            controller=self._random.choice(CONTROLLERS),
            time_ms=0,
        )

    def _expect_start(self) -> None:
        """Change the model by a start: strays go, and missing logs are created."""
        assigned = assigned_in(self._image)
        found = {log: place for log, place in self._logs.items() if place in self._online}
        for log in [log for log in found if log not in assigned]:
            del self._logs[log]
        self._working = {log: place for log, place in found.items() if log in assigned}
        self._offline = set()
        self._place(assigned, is_start=True)

    def _answer(self, told: Told, kind: float) -> None:
        """Answer a report: lost, refused, refused in part, or carried out."""
        if kind < 0.15:
            self._broker.answer(told, None)
            return
        if kind < 0.3:
            self._broker.answer(told, Answer(error_code=ErrorCode.NOT_CONTROLLER))
            return
        answer, changes = self._controller.carry_out(told.message, is_whole=kind > 0.6)
        if self._random.random() < 0.5:
            self._publish(*changes)
            if told in self._broker.told:
                self._broker.answer(told, answer)
        else:
            self._broker.answer(told, answer)
            self._publish(*changes)

    def _compare(self) -> None:
        """Compare the effects and the reports with the model."""
        last = {effect.log: effect for effect in self._broker.effects}
        self._broker.effects.clear()
        for log, effect in last.items():
            if isinstance(effect, CreateLog):
                same(f"the directory of the new {log}", effect.directory, self._working.get(log))
            else:
                check(f"{log} is gone", log not in self._working)
        self._sizes.compare(self._image, self._broker.segment_bytes, self._working)
        self._judge_reports()

    def _judge_reports(self) -> None:
        """Compare the new reports with the directories of the replicas."""
        assigned = assigned_in(self._image)
        own = (int(BROKER), FIRST_BROKER_EPOCH + BROKER)
        for report in [one for one in self._broker.told if not one.is_judged]:
            report.is_judged = True
            request = report.message
            same("broker and epoch of a report", (request.broker_id, request.broker_epoch), own)
            for log, told in logs_of(request).items():
                if log in assigned and (log in self._working or told == LOST):
                    place = self._working.get(log, LOST)
                    same(f"the told directory of {log}", told, place)
