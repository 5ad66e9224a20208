"""The large histories of `tests.support.checkers.scale`, and which engines are to decide each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from kraftproof.checkers.generate import GenerateOptions


@dataclass(frozen=True, kw_only=True)
class Case:
    """A history's options, and which engines are to decide it.

    Attributes:
        options: of the valid history; its twins have each kind of corruption.
        engines: `general`, or names of ENGINES.
        seconds: the limit a key.
    """

    options: GenerateOptions
    engines: tuple[str, ...]
    seconds: float

    @property
    def told(self) -> str:
        o = self.options
        values = "unique" if o.values is None else f"{o.values} values"
        mix = "" if o.mix is None else "+".join(o.mix) + ", "
        return (
            f"{o.model}, {mix}{values}, {o.operations:,} operations, {o.keys} keys, concurrency"
            f" {o.concurrency}, {o.indeterminate:.0%} indeterminate, seed {o.seed}"
        )


def cases(
    engines: tuple[str, ...],
    *sizes: tuple[int, int, int, float],
    seconds: float = 120.0,
    **options: Any,
) -> Iterator[Case]:
    """Cases of one kind: (operations, keys, concurrency, share indeterminate) each."""
    for seed, (operations, keys, concurrency, indeterminate) in enumerate(sizes):
        yield Case(
            options=GenerateOptions(
                operations=operations,
                keys=keys,
                concurrency=concurrency,
                indeterminate=indeterminate,
                failed=0.01,
                seed=seed,
                **options,
            ),
            engines=engines,
            seconds=seconds,
        )


READ_WRITE = {"read": 1.0, "write": 1.0}
UNIQUE: Final[dict[str, Any]] = {"values": None}


def of(model: str) -> dict[str, Any]:
    return {"model": model, **UNIQUE}


ALONE = ((1_000, 1, 3, 0.02), (2_000, 10, 8, 0.01))
SMALL = (
    *cases(("general", "race"), (10_000, 1, 5, 0), (2_000, 1, 10, 0), (900, 3, 6, 0.01)),
    *cases(("race",), (50_000, 50, 10, 0.01), (20_000, 1, 12, 0)),
    *cases(("race",), (20_000, 1, 20, 0), (20_000, 50, 10, 0.01), mix=READ_WRITE),
    *cases(("race", "unique-cas"), (20_000, 1, 10, 0), (20_000, 20, 10, 0.05), **UNIQUE),
    *cases(
        ("chosen", "unique-cas"),
        (100_000, 1, 10, 0),
        (100_000, 20, 50, 0.05),
        mix=READ_WRITE,
        **UNIQUE,
    ),
    *cases(("chosen", "unique-cas"), (100_000, 1, 5, 0.01), (100_000, 20, 50, 0.05), **UNIQUE),
    *(
        each
        for model in ("kv-append", "multi-register")
        for each in (
            *cases(("general", "chosen"), *ALONE, **of(model)),
            *cases(("chosen",), (20_000, 1, 20, 0.05), (20_000, 40, 50, 0), **of(model)),
        )
    ),
    *cases(("general",), *ALONE, (10_000, 1, 10, 0), **of("topics")),
    *cases(("general",), *ALONE, (10_000, 1, 10, 0), **of("registration")),
    *(
        each
        for model in (
            "append-log",
            "counter",
            "fencing-lock",
            "list-append",
            "mutex",
            "set",
            "map",
            "versioned-register",
        )
        for each in (
            *cases(("general", "chosen"), (300, 1, 3, 0.01), (600, 10, 4, 0.02), **of(model)),
            *cases(("chosen",), (20_000, 100, 10, 0.02), (20_000, 40, 30, 0), **of(model)),
        )
    ),
    *(
        each
        for model in ("queue", "stack", "priority-queue")
        for each in (
            *cases(("general", "chosen"), (200, 1, 3, 0), (500, 10, 3, 0.01), **of(model)),
            *cases(("chosen",), (20_000, 1, 10, 0), (20_000, 10, 30, 0), **of(model)),
        )
    ),
)
LARGE = (
    *cases(("race",), (100_000, 1, 5, 0), (100_000, 1, 10, 0)),
    *cases(("race",), (100_000, 1, 20, 0), (1_000_000, 1_000, 5, 0), (1_000_000, 1_000, 5, 0.01)),
    *cases(("race",), (100_000, 1, 10, 0), (100_000, 1, 50, 0), mix=READ_WRITE),
    *cases(("race", "unique-cas"), (1_000_000, 1_000, 10, 0.05), (300_000, 1, 10, 0), **UNIQUE),
    *(
        each
        for mix in (READ_WRITE, None)
        for each in cases(
            ("chosen", "unique-cas"),
            *((1_000_000, 1, c, lost) for c in (5, 10, 50) for lost in (0, 0.01, 0.05)),
            (1_000_000, 1_000, 10, 0.05),
            mix=mix,
            **UNIQUE,
        )
    ),
    *(
        each
        for model in ("queue", "stack", "priority-queue", "counter", "append-log", "set", "mutex")
        for each in cases(
            ("chosen",), (100_000, 1, 10, 0), (100_000, 100, 50, 0.01), **of(model)
        )
    ),
    *cases(
        ("chosen", "stack-graph"), (100_000, 1, 5, 0), (20_000, 1, 10, 0), (100_000, 100, 10, 0),
        **of("stack"),
    ),
    *cases(
        ("chosen",),
        *((10_000, 1, c, lost) for c in (5, 10) for lost in (0, 0.02)), (50_000, 100, 10, 0),
        model="stack", values=5,
    ),
    *cases(  # some of these keys stay undecided: NP-complete (docs/checkers.md)
        ("chosen",), (2_500, 5, 15, 0), seconds=5, model="stack", values=5,
    ),
    *cases(("chosen",), (100_000, 500, 10, 0.01), **of("list-append")),
    *cases(("chosen",), (100_000, 500, 10, 0.01), **of("map")),
    *(
        each
        for model in ("queue", "counter", "kv-append", "multi-register")
        for each in cases(
            ("chosen",),
            *((10_000, 1, c, lost) for c in (5, 10, 20) for lost in (0, 0.02)),
            (50_000, 100, 20, 0.01),
            model=model, values=5,
        )
    ),
    *(
        each
        for model in ("kv-append", "multi-register")
        for each in cases(
            ("chosen",),
            *((100_000, 1, c, lost) for c in (5, 10, 50) for lost in (0, 0.05)),
            (100_000, 100, 20, 0.01),
            **of(model),
        )
    ),
    *(
        each
        for model in ("topics", "registration")
        for each in cases(
            ("chosen", "general"), (100_000, 1, 10, 0), (100_000, 500, 10, 0.02), **of(model)
        )
    ),
)  # fmt: skip
