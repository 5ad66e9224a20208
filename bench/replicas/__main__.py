"""`python -m bench.replicas`: see the package. Exit codes: 0 measured, 1 a cluster failed."""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.beside import in_turns, ratios
from bench.cluster.__main__ import OURS, RIVALS, build_images, say
from bench.replicas.measure import Figures, measured
from bench.replicas.page import METRICS, page
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.systems.system import SystemUnavailableError

FEWEST_IN_SERIES = 100
"""Fewer latencies have no 99th percentile."""


def main() -> int:
    """Measure and print; 1 and one line if a cluster fails."""
    options = parse()
    try:
        if options.backend == "docker":
            build_images(options.beside)
        found = _figures(options)
    except (ClusterError, SystemUnavailableError, RuntimeError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    value: object = asdict(found[OURS][0])
    if options.beside is not None:
        ours, theirs = found[OURS], found[options.beside]
        text = page(ours, theirs)
        if options.out is None:
            print(text)
        else:
            options.out.write_text(text, encoding="utf-8")
        value = {
            "ratios": [asdict(one) for one in ratios(METRICS, ours, theirs)],
            "rounds": {name: [asdict(one) for one in several] for name, several in found.items()},
        }
    print(json.dumps(value))
    return 0


def _figures(options: argparse.Namespace) -> Mapping[str, list[Figures]]:
    """Return the figures of each round, or of one round without a rival."""

    def one(name: str) -> Figures:
        return measured(name, options, say)

    if options.beside is None:
        return {OURS: [one(OURS)]}
    return in_turns((OURS, options.beside), options.rounds, one, say)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.replicas", description="Measure.")
    parser.add_argument("--backend", default="docker", choices=("docker", "local"))
    parser.add_argument("--nodes", default="3+3", help="controllers+brokers (default 3+3)")
    parser.add_argument("--timeouts", default="chaos", choices=("chaos", "default"))
    parser.add_argument("--series", type=int, default=3_000, help="records in series (3000)")
    parser.add_argument("--records", type=int, default=60_000, help="in batches (default 60000)")
    parser.add_argument("--warm-up", type=int, default=2_000, help="records before (default 2000)")
    parser.add_argument("--failovers", type=int, default=3, help="how many (default 3)")
    parser.add_argument("--beside", choices=RIVALS, help="a system that runs in turns with ours")
    parser.add_argument("--rounds", type=int, default=5, help="with --beside (default 5)")
    parser.add_argument("--out", type=Path, help="with --beside: write the page here")
    options = parser.parse_args(arguments)
    if re.fullmatch(r"[1-9]\d*\+([3-9]|[1-9]\d+)", options.nodes) is None:
        parser.error(
            f"--nodes {options.nodes}: controllers+brokers with 3 brokers or more, such as 3+3"
        )
    if options.series < FEWEST_IN_SERIES or min(options.records, options.failovers) < 1:
        parser.error(
            f"--series of at least {FEWEST_IN_SERIES}, --records and --failovers of at least 1"
        )
    if min(options.rounds, options.warm_up) < 1:
        parser.error("--rounds and --warm-up of at least 1")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
