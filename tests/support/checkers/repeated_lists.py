"""Draws of lists whose elements repeat, one action a call, on the key's own list and on another."""

from random import Random

from tests.support.checkers.reference import State


def draw_repeated_list(random: Random, state: State) -> tuple[str, object, object]:
    """Draws appends of few elements, and reads that mostly fit."""
    name = random.choice([None, None, "x"])
    held = list((state or {}).get(name, ()))
    element = random.choice("aaab")
    wild = random.choice([held[:-1], [*held, element], held[::-1], [*held, "c"]])
    shown = held if random.random() < 0.8 else wild
    is_read = random.random() < 0.5
    if name is None:
        return ("read", None, shown) if is_read else ("append", element, element)
    action = "r" if is_read else "append"
    asked, answered = (None, shown) if is_read else (element, element)
    return "txn", [[action, name, asked]], [[action, name, answered]]
