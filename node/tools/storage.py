"""Run `kraft-storage info | format | random-uuid`, like kafka-storage (KIP-631, "kafka-storage").

The exit status is 1 for every error and for every problem found by `info`. The tool does not check
the log. See format_command.py and feature_commands.py for the other commands.
"""

import secrets
import sys

from kraftproof.node.properties.formatting import FormatConfig, read_format_config
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.storage.java_properties import parse_properties
from kraftproof.node.storage.meta_properties import FILE_NAME, check_directories
from kraftproof.node.tools.arguments import ToolParser, print_error, print_line
from kraftproof.node.tools.feature_commands import add_feature_commands
from kraftproof.node.tools.format_command import add_format_options, format_storage
from kraftproof.node.wire.types import Uuid, format_uuid

PROGRAM = "kraft-storage"


def main() -> None:
    """Run the command."""
    sys.exit(run(sys.argv[1:]))


def run(argv: list[str]) -> int:
    """Run a command; return the exit status."""
    arguments = _parser().parse_args(argv)
    disk = Disk()
    try:
        if arguments.command == "random-uuid":
            print_line(random_uuid())
            return 0
        if "run" in arguments:
            return int(arguments.run(arguments))
        text = _read_text(disk, arguments.config)
        if arguments.command == "info":
            return _info(disk, read_format_config(text))
        return format_storage(disk, text, arguments)
    except (ConfigError, StorageError) as error:
        print_error(PROGRAM, str(error))
    except OSError as error:
        print_error(PROGRAM, f"{error.filename}: {error.strerror}")
    return 1


def random_uuid() -> str:
    """Return a random id as text that does not look like a command-line option."""
    while True:
        text = format_uuid(Uuid(secrets.token_bytes(16)))
        if not text.startswith("-"):
            return text


def _parser() -> ToolParser:
    parser = ToolParser(prog=PROGRAM, description="The storage of a node.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    info = commands.add_parser("info", help="say what the log directories hold")
    formatting = commands.add_parser("format", help="format the log directories")
    for command in (info, formatting):
        command.add_argument("-c", "--config", required=True, help="the node's server.properties")
    add_format_options(formatting)
    commands.add_parser("random-uuid", help="print a random cluster id")
    add_feature_commands(commands)
    return parser


def _read_text(disk: FileSystem, config: str) -> str:
    try:
        return disk.read(config).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{config}: is not UTF-8 text") from error


def _info(disk: FileSystem, config: FormatConfig) -> int:
    directories = sorted(config.directories)
    found = [path for path in directories if disk.exists(path)]
    problems = [f"{path} does not exist" for path in directories if path not in found]
    formatted = [path for path in found if disk.exists(join(path, FILE_NAME))]
    problems += [f"{path} is not formatted." for path in found if path not in formatted]
    if formatted:
        try:
            check_directories(disk, formatted, config.node_id)
        except StorageError as error:
            problems.append(str(error))
    _print_list("Found log directory:", "Found log directories:", found)
    if formatted:
        pairs = parse_properties(
            disk.read(join(formatted[0], FILE_NAME)).decode("utf-8", "replace")
        )
        stored = ", ".join(f"{key}={pairs[key]}" for key in sorted(pairs))
        print_line(f"Found metadata: {{{stored}}}\n")
    _print_list("Found problem:", "Found problems:", problems)
    return 1 if problems else 0


def _print_list(one: str, several: str, lines: list[str]) -> None:
    if lines:
        print_line(one if len(lines) == 1 else several)
        print_line("".join(f"  {line}\n" for line in lines))


if __name__ == "__main__":
    main()
