"""Draws of what mostly is written once: pieces of strings, and registers of transactions."""

from random import Random

from tests.support.checkers.reference import State


def draw_pieces(random: Random, state: State) -> tuple[str, object, object]:
    """Draws puts and appends of pieces that mostly are new, and gets that mostly fit."""
    f = random.choice(["get", "get", "append", "append", "put"])
    text = "" if random.random() < 0.02 else f"<{random.randrange(1000)}>"
    if f != "get":
        return f, text, text
    pieces = (state or "").replace(">", "> ").split()
    wild = random.choice([pieces[:-1], pieces[1:], pieces[::-1], [*pieces, text], ["<"]])
    shown = "".join(pieces if random.random() < 0.8 else wild)
    return f, None, shown or random.choice(["", None])


def draw_transaction(random: Random, state: State) -> tuple[str, object, object]:
    """Draws transactions that mostly write what is new and read what fits, or was before."""
    asked, answered, values = [], [], dict(state or {})
    for _ in range(random.randrange(1, 4)):
        action, register = random.choice(["read", "write"]), random.choice("xyz")
        if action == "read":
            near = max(0, values.get(register, 0) - random.randrange(1, 4))
            value = values.get(register, 0) if random.random() < 0.9 else near
        else:
            value = max(values.values(), default=0) + random.choice([1, 1, 1, 1, 2])
            values[register] = value
        asked.append([action, register, None if action == "read" else value])
        answered.append([action, register, value])
    return "txn", asked, answered
