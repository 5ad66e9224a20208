"""What one seed of `kraftproof sim` is: drawn from the seed alone, never from the mutant.

Not: how it is run (kraftproof/search.py).
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from kraftproof.options import RunOptions

TOPICS_SHARE = 0.65
TOPOLOGIES = ((3, 3), (3, 3), (3, 3), (3, 1), (3, 2), (5, 1), (5, 3))
RATES = (10.0, 20.0, 40.0, 80.0)
CONCURRENCIES = (2, 5, 10)
TIME_LIMITS_S = (8.0, 12.0, 20.0)
MIXES = (
    ("partition", "pause"),
    ("partition", "pause", "clock"),
    ("kill", "partition", "pause"),
    ("kill", "partition", "pause", "clock"),
    ("kill", "partition"),
    ("partition",),
    ("pause", "clock"),
    ("kill-all", "lose-unsynced", "partition"),
    ("lose-unsynced", "kill", "partition"),
    ("clock", "partition", "kill"),
    ("restart", "partition", "pause"),
    ("kill", "partition", "pause", "clock", "lose-unsynced", "restart", "kill-all"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One seed's run."""

    options: RunOptions

    def describe(self) -> str:
        """Say what is run, in one line."""
        options = self.options
        return (
            f"{options.workload:<12} {options.controllers}+{options.brokers} "
            f"{options.time_limit_s:>4g} s {options.rate:>3g}/s {','.join(options.nemeses)}"
        )


def scenario(
    seed: int, store: Path, *, mutant: str | None = None, time_limit_s: float | None = None
) -> Scenario:
    """Return the scenario of a seed; a time limit that is given overrides the drawn one."""
    random = Random(f"scenario {seed}")
    controllers, brokers = random.choice(TOPOLOGIES)
    workload = "topics" if random.random() < TOPICS_SHARE else "registration"
    drawn_s = random.choice(TIME_LIMITS_S)
    options = RunOptions(
        backend="simulated",
        workload=workload,
        nemeses=random.choice(MIXES),
        controllers=controllers,
        brokers=brokers,
        time_limit_s=drawn_s if time_limit_s is None else time_limit_s,
        rate=random.choice(RATES),
        concurrency=random.choice(CONCURRENCIES),
        seed=seed,
        mutant=mutant,
        store=store,
        engine="inline",
    )
    return Scenario(options=options)
