"""Parse arguments like Kafka's tools: a usage error is exit status 1."""

import argparse
import sys
from typing import NoReturn

from typing_extensions import override


class ToolParser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are one line and exit status 1."""

    @override
    def error(self, message: str) -> NoReturn:
        print_error(self.prog, f"{message}; {self.prog} -h shows the usage")
        raise SystemExit(1)


def print_line(line: str) -> None:
    """Print a line of a tool's result."""
    sys.stdout.write(f"{line}\n")


def print_error(program: str, line: str) -> None:
    """Print an error of one line."""
    sys.stderr.write(f"{program}: {line}\n")
