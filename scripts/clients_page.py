"""Measure the calls of clients and of Kafka's tools, and write docs/clients.md.

python -m scripts.clients_page            runs the tests of tests/kafka/clients, and records
python -m scripts.clients_page --render   writes the page from docs/clients.tsv alone
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
TABLE: Final = ROOT / "docs" / "clients.tsv"
PAGE: Final = ROOT / "docs" / "clients.md"
RECORD: Final = "KRAFTPROOF_CLIENTS_RECORD"
"""The environment variable with the file for measured outcomes."""
CLIENTS: Final = ("Java client", "confluent-kafka", "kafka-python", "aiokafka", "kcat")
WORKS: Final = "works"
REFUSED: Final = "refused: "
NOT_OFFERED: Final = "not offered"
MEASURE_SECONDS: Final = 900
INTRODUCTION: Final = """# Clients and Kafka's tools

The tests of tests/kafka/clients make each call against one controller and three brokers of the
reference cluster. A call works, or is refused at once with the error that the table names. No call
waits for a time-out of the client. Empty cells: the client does not offer the call.

The brokers have neither groups nor transactions. A broker names itself as the coordinator, and its
ApiVersions list no request that joins a group. OffsetFetch finds no committed offset. The
error INVALID_TRANSACTION_TIMEOUT means that the broker allows no transaction, however short. For
groups and transactions, run real Kafka brokers on the controllers (`--system mixed`).

- A consumer that assigns partitions needs no group. confluent-kafka requires the name of a group:
  the consumer begins at its `auto.offset.reset`, and its commits fail.
- aiokafka knows only old versions of FindCoordinator, in which the broker refuses a group: leave
  out `group_id`.
- kafka-python and aiokafka need a library of their own for snappy, lz4 and zstd.
- The throttles of `kafka-reassign-partitions` are stored without an effect.
- Delegation tokens need SASL or mutual TLS, as in Kafka.

`python -m scripts.clients_page` measures again and writes this page. A test fails if an outcome
differs from the page.
"""
Cells = Mapping[tuple[str, str], str]
"""Outcomes by client (or tool) and call, in the order of the page."""


def read_cells(path: Path) -> dict[tuple[str, str], str]:
    """Return the recorded outcomes."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t") for line in lines]
    return {(client, call): found for client, call, found in fields}


def page(cells: Cells) -> str:
    """Return the text of docs/clients.md."""
    calls = list(dict.fromkeys(call for client, call in cells if client in CLIENTS))
    lines = [INTRODUCTION, "## Clients", "", *_head("call", *CLIENTS)]
    for call in calls:
        row = (_cell(cells.get((client, call), NOT_OFFERED)) for client in CLIENTS)
        lines.append(_row(call, *row))
    lines += ["", "## Kafka's tools", "", *_head("tool", "call", "outcome")]
    lines += [
        _row(f"`{tool}`", call, _cell(found))
        for (tool, call), found in cells.items()
        if tool not in CLIENTS
    ]
    return "\n".join([*lines, ""])


def _cell(found: str) -> str:
    if found == NOT_OFFERED:
        return ""
    return f"refused: `{found.removeprefix(REFUSED)}`" if found.startswith(REFUSED) else found


def _head(*names: str) -> tuple[str, str]:
    return _row(*names), _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def measure() -> None:
    """Run the tests, which append their outcomes to the table.

    Raises:
        subprocess.CalledProcessError: a test failed.
    """
    found = TABLE.with_suffix(".new")
    found.unlink(missing_ok=True)
    command = [str(Path(sys.executable).with_name("pytest")), "-q", "tests/kafka/clients"]
    command += ["-k", "works or step"]
    environment = {**os.environ, RECORD: str(found)}
    try:
        subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=MEASURE_SECONDS)
        found.replace(TABLE)
    finally:
        found.unlink(missing_ok=True)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, after new measurements unless --render is given."""
    parser = argparse.ArgumentParser(description="write docs/clients.md")
    parser.add_argument("--render", action="store_true", help="measure nothing")
    if not parser.parse_args(arguments).render:
        measure()
    PAGE.write_text(page(read_cells(TABLE)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
