"""Run `kraft-metadata-shell -s FILE | -C VOTERS [command...]`, like Kafka's tool (KIP-500).

A file is a snapshot or a segment of the metadata log. With controllers the tool is live: before
each command it replays what has committed meanwhile. A command on the command line runs once; its
mistake is exit status 1.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Final

from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.storage.disk import Disk
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.client import Address, ClientError, parse_addresses
from kraftproof.node.tools.command_config import read_command_config
from kraftproof.node.tools.metadata_shell.commands import Shell
from kraftproof.node.tools.metadata_shell.sources import LiveSource, replay_file
from kraftproof.node.tools.metadata_shell.tree import Folder

PROGRAM: Final = "kraft-metadata-shell"
PROMPT: Final = ">> "
Refresh = Callable[[], Folder]


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str], lines: Callable[[], str] = input) -> int:
    """Run one command, or the commands of the standard input; return the exit status."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if bool(arguments.snapshot) == bool(arguments.controllers):
        parser.error("give one of --snapshot and --controllers")
    try:
        refresh = _source(arguments.snapshot, arguments.controllers, arguments.config)
        if arguments.command:
            output, is_done = Shell(refresh()).run(arguments.command)
            _print(output)
            return 0 if is_done else 1
        return _interact(refresh, lines)
    except (ClientError, ConfigError) as error:
        print_error(PROGRAM, str(error))
        return 1


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="Show the cluster's metadata as a tree of files.")
    parser.add_argument("-s", "--snapshot", help="a snapshot, or a segment of the metadata log")
    parser.add_argument(
        "-C", "--controllers", help="running controllers, as host:port or id@host:port,..."
    )
    parser.add_argument(
        "-c", "--config", "--command-config", help="a file of client properties, for --controllers"
    )
    parser.add_argument("command", nargs="*", help="a command to run once")
    return parser


def _source(path: str | None, controllers: str | None, config: str | None) -> Refresh:
    """Return the function that gives the newest tree."""
    if path is not None:
        replay, damage = replay_file(Disk(), path)
        if damage is not None:
            print_error(PROGRAM, f"{path}: not read to its end: {damage}")
        tree = replay.tree()
        return lambda: tree
    live = LiveSource(_voters(controllers or ""), read_command_config(config))

    def refresh() -> Folder:
        live.refresh()
        return live.replay.tree()

    return refresh


def _voters(text: str) -> Sequence[Address]:
    """Return the addresses of `id@host:port,...`; the ids may be left out."""
    return parse_addresses(",".join(part.rpartition("@")[2] for part in text.split(",")))


def _interact(refresh: Refresh, lines: Callable[[], str]) -> int:
    print_line("Loading...")
    shell = Shell(refresh())
    print_line("Starting...")
    print_line("[ Kraftproof Metadata Shell ]")
    while not shell.is_over:
        sys.stdout.write(PROMPT)
        sys.stdout.flush()
        try:
            line = lines()
        except (EOFError, KeyboardInterrupt):
            print_line("")
            return 0
        try:
            shell.tree = refresh()
        except ClientError as error:
            print_line(f"the metadata is as before: {error}")
        _print(shell.execute(line)[0])
    return 0


def _print(output: list[str]) -> None:
    for line in output:
        print_line(line)


if __name__ == "__main__":
    main()
