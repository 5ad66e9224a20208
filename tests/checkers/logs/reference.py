"""The rules of the model `log` by their definitions alone: loops over operations, no columns."""

from collections import Counter

from kraftproof.checkers.calls.values import canonical

NOTHING = (None, None)


def seen_by(operation):
    return [(offset, canonical(value)) for offset, value in operation.output["records"]]


def session_of(text):
    """The session and the number of a value "3.17@run"; None for another value."""
    number, _, run = text.strip('"').partition("@")
    session, dot, sequence = number.partition(".")
    return (int(session), int(sequence)) if run and dot else None


class Reference:
    """The problems of one partition: a set of (check, kind, offset, value, operation)."""

    def __init__(self, operations):
        self.operations = operations
        self.sends = [one for one in operations if one.f == "send"]
        self.polls = [one for one in operations if one.f == "poll" and one.status == "ok"]
        self.finals = [one for one in operations if one.f == "final" and one.status == "ok"]
        self.found = set()
        self.final = {}
        for one in self.finals:
            for offset, value in seen_by(one):
                self.final.setdefault(offset, (value, one.index))
        self.log_start = max((one.output["log_start"] for one in self.finals), default=0)
        self.end = max((one.output["end"] for one in self.finals), default=-1)
        self.asked = max((one.invoke_index for one in self.finals), default=-1)
        self.is_whole = self._is_whole()

    def _is_whole(self):
        covered, end = set(), max((one.output["end"] for one in self.finals), default=None)
        for one in self.finals:
            begin = one.input["position"]
            begin = one.output["log_start"] if begin is None else begin
            last = max((offset for offset, _ in seen_by(one)), default=None)
            until = last + 1 if last is not None else max(begin, one.output["end"])
            covered |= set(range(begin, until))
        return end is not None and all(place in covered for place in range(self.log_start, end))

    def add(self, check, kind, offset, value, index):
        self.found.add((f"log/{check}", kind, offset, value, index))

    def offset_of(self, send):
        is_told = send.status == "ok" and send.input["acks"] != 0
        return send.output["offset"] if is_told else None

    def senders_of(self, value):
        """The sends of a value that may have appended it."""
        return [
            one
            for one in self.sends
            if canonical(one.input["value"]) == value and one.status != "fail"
        ]

    def failed_of(self, value):
        return next((one for one in self.sends if canonical(one.input["value"]) == value), None)

    def problems(self):
        self.one_value()
        self.lost()
        self.kept()
        self.origin()
        self.appends()
        self.readers()
        return self.found

    def one_value(self):
        seen = [(offset, value, index) for offset, (value, index) in self.final.items()]
        seen += [(o, v, one.index) for one in self.finals + self.polls for o, v in seen_by(one)]
        for one in self.sends:
            if self.offset_of(one) is not None and one.input["acks"] == -1:
                seen.append((self.offset_of(one), canonical(one.input["value"]), one.index))
        for offset in {offset for offset, _, _ in seen}:
            here = [(index, value) for place, value, index in seen if place == offset]
            first = min(index for index, _ in here)
            first_value = next(value for index, value in here if index == first)
            others = [(index, value) for index, value in here if value != first_value]
            if others:
                index = min(index for index, _ in others)
                value = next(value for each, value in others if each == index)
                self.add("one-value", "safety", offset, value, index)

    def lost(self):
        for one in self.sends if self.is_whole else ():
            value, offset = canonical(one.input["value"]), self.offset_of(one)
            kind = "safety" if one.input["acks"] == -1 else "declared"
            if one.status != "ok":
                continue
            is_late = one.complete_index > self.asked
            if is_late and (offset is None or offset >= self.end):
                continue
            if offset is None:
                if self.log_start == 0 and value not in {held for held, _ in self.final.values()}:
                    self.add("lost", kind, -1, value, one.index)
            elif offset >= self.log_start and self.final.get(offset, NOTHING)[0] != value:
                self.add("lost", kind, offset, value, one.index)

    def kept(self):
        done = set()
        for one in self.polls if self.is_whole else ():
            for offset, value in seen_by(one):
                is_gone = self.final.get(offset, NOTHING)[0] != value
                is_late = one.complete_index > self.asked and offset >= self.end
                if (
                    is_gone
                    and not is_late
                    and offset >= self.log_start
                    and (offset, value) not in done
                ):
                    done.add((offset, value))
                    self.add("kept", "safety", offset, value, one.index)

    def origin(self):
        self.records = []  # (offset, send, is known) of the final records that stand where they may
        placed = Counter()
        for offset, (value, index) in sorted(self.final.items()):
            senders = self.senders_of(value)
            at_home = [one for one in senders if self.offset_of(one) == offset]
            unplaced = [one for one in senders if self.offset_of(one) is None]
            if not senders:
                self.add("sent", "safety", offset, value, index)
                continue
            if at_home:
                self.records.append((offset, at_home[0], True))
                continue
            sender = [*unplaced, *senders][0]
            homes = map(self.offset_of, [] if unplaced else [sender])
            is_home = any(self.final.get(home, NOTHING)[0] == value for home in homes)
            if is_home or placed[value] >= max(1, len(unplaced)):
                kind = "safety" if all(one.input["idempotent"] for one in senders) else "declared"
                self.add("duplicate", kind, offset, value, sender.index)
            else:
                self.records.append((offset, sender, len(unplaced) == 1))
            placed[value] += 1
        for one in self.polls:
            for offset, value in seen_by(one):
                began = [send.invoke_index for send in self.senders_of(value)]
                is_home = any(self.offset_of(send) == offset for send in self.senders_of(value))
                if is_home:
                    began = [send.invoke_index for send in self.senders_of(value)
                             if self.offset_of(send) == offset]  # fmt: skip
                if not began or began[0] > one.complete_index:
                    self.add("sent", "safety", offset, value, one.index)

    def appends(self):
        for place, (offset, one, is_known) in enumerate(self.records):
            value = canonical(one.input["value"])
            is_sure = is_known and one.status == "ok" and one.input["acks"] != 0
            before = [send for _, send, _ in self.records[:place]]
            if is_sure and any(one.complete_index < send.invoke_index for send in before):
                self.add("append-order", "safety", offset, value, one.index)
            mine = session_of(value)
            sessions = [session_of(canonical(send.input["value"])) for send in before]
            if mine and any(other[0] == mine[0] and other[1] > mine[1] for other in sessions):
                kind = "safety" if one.input["idempotent"] else "declared"
                self.add("producer-order", kind, offset, value, one.index)

    def readers(self):
        kept = {}
        for one in self.operations:
            if one.f in {"poll", "assign"} and one.status == "info":
                kept[one.process] = None
            if one.status != "ok" or one.f == "send":
                continue
            position = one.input["position"]
            if one.f == "assign":
                kept[one.process] = None if position is None else position - 1
                continue
            own = {} if one.f == "final" else kept
            last = own.get(one.process) if position is None else position - 1
            for offset, value in seen_by(one):
                if last is not None and offset <= last:
                    self.add("order", "safety", offset, value, one.index)
                elif last is not None and any(last < place < offset for place in self.final):
                    self.add("skipped", "safety", offset, value, one.index)
                own[one.process] = last = offset


def problems_of(operations):
    return Reference(operations).problems()
