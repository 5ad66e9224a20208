"""Small random histories of one partition, mostly right, with a few wrong facts in most of them."""

from kraftproof.checkers.history.operations import Operation


def small_history(random):
    """A log of a few records, sends with true and false answers, readers, and final reads."""
    sends = _sends(random)
    log = [value for value, status, _, _ in sends if status == "ok" or random.random() < 0.4]
    if random.random() < 0.3:
        random.shuffle(log)
    log_start = random.choice([0, 0, 0, 1])
    steps = [_send(random, log, *one) for one in sends]
    truth = _spoiled(random, list(enumerate(log)), [value for value, _, _, _ in sends])
    for _ in range(random.randrange(4)):
        steps.insert(random.randrange(len(steps) + 1), _poll(random, truth))
    if random.random() < 0.9:
        steps += _finals(random, [one for one in truth if one[0] >= log_start], log_start, len(log))
    return _operations(random, steps)


def _sends(random):
    made, counts = [], [0, 0]
    is_plain = random.random() < 0.2
    for number in range(random.randrange(1, 7)):
        session = random.randrange(2)
        counts[session] += 1
        value = number if is_plain else f"{session}.{counts[session]}@a"
        if is_plain and random.random() < 0.2:
            value = random.randrange(number + 1)  # perhaps one that was sent before
        status = random.choice(["ok", "ok", "ok", "info", "fail"])
        made.append((value, status, random.choice([-1, -1, -1, 1, 0]), session == 0))
    return made


def _send(random, log, value, status, acks, idempotent):
    offset = log.index(value) if value in log else random.randrange(6)
    if random.random() < 0.07:
        offset = random.randrange(6)
    if (acks == 0 and random.random() < 0.8) or random.random() < 0.05:
        offset = None
    asked = {"value": value, "acks": acks, "idempotent": idempotent}
    return random.randrange(3), "send", asked, {"offset": offset}, status


def _spoiled(random, records, values):
    """The records of a log after, in some cases, a loss, a repeat, or a foreign value."""
    if records and random.random() < 0.2:
        records.pop(random.randrange(len(records)))
    if records and random.random() < 0.15:
        records.append((len(records) + random.randrange(2), random.choice(records)[1]))
    if records and random.random() < 0.1:
        place = random.randrange(len(records))
        records[place] = (records[place][0], random.choice([*values, "9.9@a", 77]))
    return sorted(dict(records).items())


def _poll(random, truth):
    position = random.choice([None, 0, 0, 1, 2])
    start = 0 if position is None else position
    found = [one for one in truth if one[0] >= start][: random.randrange(4)]
    if found and random.random() < 0.15:
        random.shuffle(found)
    if found and random.random() < 0.1:
        found.pop(0)
    if found and random.random() < 0.1:
        found[-1] = (found[-1][0] + random.randrange(2), random.choice(found)[1])
    process = 3 + random.randrange(2)
    if random.random() < 0.2:
        status = random.choice(["ok", "ok", "ok", "info"])
        return process, "assign", {"position": random.choice([None, 0, 1])}, None, status
    answer = {"records": [list(one) for one in found], "log_start": 0, "end": 9}
    status = random.choice(["ok", "ok", "ok", "ok", "fail", "info"])
    return process, "poll", {"position": position}, answer, status


def _finals(random, truth, log_start, end):
    """One final read, or two parts that cover the log or leave a hole."""
    cut = random.choice([None, None, len(truth) // 2])
    parts = [truth] if cut is None else [truth[:cut], truth[cut:]]
    steps, position = [], None
    for part in parts:
        answer = {"records": [list(one) for one in part], "log_start": log_start, "end": end}
        steps.append((random.choice([4, 5]), "final", {"position": position}, answer, "ok"))
        position = part[-1][0] + 1 if part else position
    if truth and random.random() < 0.1:
        steps[-1][3]["records"] = steps[-1][3]["records"][:-1]
    return steps


def _operations(random, steps):
    """The steps as operations, of which some overlap; a process has one open at a time."""
    events, made, busy = 0, [], {}
    for index, (process, f, asked, told, status) in enumerate(steps):
        begin = events
        events += 1
        if random.random() < 0.3:
            begin = max(busy.get(process, 0), begin - random.randrange(1, 6))
        end = events
        events += 1
        busy[process] = events
        made.append((begin, end, index, process, f, asked, told, status))
    made.sort(key=lambda one: (one[0], one[2]))
    numbers = _numbered([(2 * begin + 1, 2 * end) for begin, end, *_ in made])
    return [
        Operation(
            index=place, process=process, f=f, key="t-0", input=asked, status=status,
            output=told if status == "ok" else None, invoke_index=invoke,
            complete_index=None if status == "info" and random.random() < 0.5 else complete,
        )
        for place, ((_, _, _, process, f, asked, told, status), (invoke, complete)) in enumerate(
            zip(made, numbers, strict=True)
        )
    ]  # fmt: skip


def _numbered(spans):
    """The events of the spans, numbered in their order: no two events have the same number."""
    times = sorted((time, place, end) for place, both in enumerate(spans)
                   for end, time in enumerate(both))  # fmt: skip
    rank = {(place, end): number for number, (_, place, end) in enumerate(times)}
    return [(rank[place, 0], rank[place, 1]) for place in range(len(spans))]
