"""`python -m bench.cluster`: see the package. Exit codes: 0 measured, 1 a cluster failed."""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from bench.beside import in_turns, ratios
from bench.cluster.beside import METRICS, page
from bench.cluster.measure import FLIGHT, Figures, measured
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.systems.system import SystemUnavailableError

OURS = "reference"
RIVALS = ("apache-kafka",)


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
    if options.beside is None:
        print(table(found[OURS][0]))
    else:
        text = page(found[OURS], found[options.beside])
        if options.out is None:
            print(text)
        else:
            options.out.write_text(text, encoding="utf-8")
        value = {
            "ratios": [asdict(one) for one in ratios(METRICS, found[OURS], found[options.beside])],
            "rounds": {name: [asdict(one) for one in several] for name, several in found.items()},
        }
    line = json.dumps(value)
    print(line)
    if options.json is not None:
        options.json.write_text(line + "\n", encoding="utf-8")
    return 0


def _figures(options: argparse.Namespace) -> Mapping[str, list[Figures]]:
    """Return the figures of each round, or of one round without a rival."""
    with tempfile.TemporaryDirectory(prefix="kraftproof-bench-") as kept:

        def one(name: str) -> Figures:
            return measured(name, options, Path(kept), say)

        if options.beside is None:
            return {OURS: [one(OURS)]}
        return in_turns((OURS, options.beside), options.rounds, one, say)


def build_images(rival: str | None) -> None:
    """Build the images of both systems before the clock runs."""
    from kraftproof.images.build import ensure_reference_image
    from kraftproof.images.context import connect
    from kraftproof.images.kafka.image import ensure_kafka_image
    from kraftproof.images.kafka.releases import NEWEST

    ensure_reference_image(progress=say)
    if rival is not None:
        ensure_kafka_image(NEWEST, connect(None), say)


def table(figures: Figures) -> str:
    """Return the figures of one cluster for people."""
    memory = figures.memory_mb
    rows = (
        ("cluster", f"{figures.nodes} nodes, {figures.backend}, {figures.timeouts} time-outs"),
        ("start to every broker unfenced", f"{figures.start_s:.2f} s"),
        ("start to the first topic", f"{figures.first_topic_s:.2f} s"),
        ("createTopics RF 3, in series", f"{figures.in_series_per_s:.1f}/s"),
        (f"createTopics RF 3, {FLIGHT} in flight", f"{figures.in_flight_per_s:.1f}/s"),
        (
            "failover after kill -9",
            f"{figures.failover_median_s:.2f} s median of {figures.failover_s}",
        ),
        ("resident memory a node", f"{min(memory):.0f} to {max(memory):.0f} MB"),
    )
    return "\n".join(f"{name:<34} {value}" for name, value in rows)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description="Measure.")
    parser.add_argument("--backend", default="docker", choices=("docker", "local"))
    parser.add_argument("--nodes", default="3+3", help="controllers+brokers (default 3+3)")
    parser.add_argument("--timeouts", default="chaos", choices=("chaos", "default"))
    parser.add_argument("--topics", type=int, default=500, help="made in each way (default 500)")
    parser.add_argument("--failovers", type=int, default=5, help="how many (default 5)")
    parser.add_argument("--beside", choices=RIVALS, help="a system that runs in turns with ours")
    parser.add_argument("--rounds", type=int, default=5, help="with --beside (default 5)")
    parser.add_argument("--out", type=Path, help="with --beside: write the page here")
    parser.add_argument("--json", type=Path, help="also write the JSON object here")
    options = parser.parse_args(arguments)
    if re.fullmatch(r"[1-9]\d*\+[1-9]\d*", options.nodes) is None:
        parser.error(f"--nodes {options.nodes}: controllers+brokers is expected, such as 3+3")
    if options.topics < FLIGHT or options.failovers < 1 or options.rounds < 1:
        parser.error(f"--topics of at least {FLIGHT}, --failovers and --rounds of at least 1")
    return options


def say(line: str) -> None:
    """Tell what is going on, apart from the figures."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
