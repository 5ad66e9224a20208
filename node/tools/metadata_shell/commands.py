"""Run the commands of the shell on a tree; a mistake is one line, and the shell goes on.

The commands and their words are those of Kafka 4.3's shell.
"""

import shlex
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kraftproof.node.tools.metadata_shell.paths import Found, find, names_in, parts_of, walk
from kraftproof.node.tools.metadata_shell.tree import Folder, Tree


class CommandError(Exception):
    """A command can't run; the text is one line."""


class Command(Struct, frozen=True, kw_only=True):
    """A command of the shell: its function, help and numbers of arguments."""

    run: "Callable[[Shell, list[str]], list[str]]"
    help: str
    arguments: str = ""
    least: int = 0
    most: int | None = None


class Shell:
    """The state between commands: tree, directory and history."""

    def __init__(self, tree: Folder) -> None:
        self.tree = tree
        self.directory: tuple[str, ...] = ()
        self.history: list[str] = []
        self.is_over = False

    def execute(self, line: str) -> tuple[list[str], bool]:
        """Run a line; return its output, and whether the command was done without a mistake."""
        self.history.append(line)
        try:
            words = shlex.split(line)
        except ValueError as error:
            return [f"{line!r}: {error}"], False
        return self.run(words) if words else ([], True)

    def run(self, words: list[str]) -> tuple[list[str], bool]:
        """Run a command of words."""
        name, *arguments = words
        command = COMMANDS.get(name)
        if command is None:
            choices = ", ".join(f"'{known}'" for known in COMMANDS)
            return [f"invalid choice: '{name}' (choose from {choices})"], False
        try:
            _check_count(command, arguments)
            lines = command.run(self, arguments)
        except CommandError as error:
            return [str(error)], False
        return lines, not any(line.startswith(f"{name}: ") for line in lines)

    def find(self, command: str, path: str, missing: str) -> list[Found]:
        """Return the nodes of a path.

        Raises:
            CommandError: there is none.
        """
        found = find(self.tree, parts_of(self.directory, path))
        if not found:
            raise CommandError(f"{command}: {path}: {missing}.")
        return found


def _check_count(command: Command, arguments: list[str]) -> None:
    if len(arguments) < command.least:
        raise CommandError("too few arguments")
    if command.most is not None and len(arguments) > command.most:
        raise CommandError(f"unrecognized arguments: '{' '.join(arguments[command.most :])}'")


def _each(
    shell: Shell, command: str, paths: list[str], missing: str, act: Callable[[Found], list[str]]
) -> list[str]:
    """Act on the nodes of each path; a path without a node is a line, and the others go on."""
    lines: list[str] = []
    for path in paths:
        try:
            for found in shell.find(command, path, missing):
                lines += act(found)
        except CommandError as error:
            lines.append(str(error))
    return lines


def _cat(shell: Shell, paths: list[str]) -> list[str]:
    def shown(found: Found) -> list[str]:
        if isinstance(found.node, dict):
            return [f"cat: {_relative(shell, found)}: Is a directory"]
        return [found.node]

    return _each(shell, "cat", paths, "No such file or directory", shown)


def _relative(shell: Shell, found: Found) -> str:
    depth = len(shell.directory)
    if found.path[:depth] == shell.directory and len(found.path) > depth:
        return "/".join(found.path[depth:])
    return found.text


def _cd(shell: Shell, paths: list[str]) -> list[str]:
    path = paths[0] if paths else "/"
    found = shell.find("cd", path, "no such directory")
    if len(found) > 1:
        raise CommandError(f"cd: {path}: too many directories.")
    if isinstance(found[0].node, str):
        raise CommandError(f"cd: {path}: not a directory.")
    shell.directory = found[0].path
    return []


def _exit(shell: Shell, _: list[str]) -> list[str]:
    shell.is_over = True
    return []


def _find_below(shell: Shell, paths: list[str]) -> list[str]:
    lines: list[str] = []
    for path in paths or ["."]:
        try:
            for top in shell.find("find", path, "no such file or directory"):
                below = len(top.path)
                name = path if find(shell.tree, parts_of(shell.directory, path)) == [top] else None
                head = top.text if name is None else name.rstrip("/") or "/"
                lines += ["/".join((head, *found.path[below:])) for found in walk(top)]
        except CommandError as error:
            lines.append(str(error))
    return lines


def _help(_: Shell, __: list[str]) -> list[str]:
    width = max(map(len, COMMANDS))
    choices = ",".join(COMMANDS)
    return [
        "Welcome to the Kraftproof metadata shell.",
        "",
        f"usage:  {{{choices}}} ...",
        "",
        "positional arguments:",
        *(f"    {name:{width}}  {command.help}" for name, command in COMMANDS.items()),
    ]


def _history(shell: Shell, arguments: list[str]) -> list[str]:
    entries = [f"{number:5}  {line}" for number, line in enumerate(shell.history)]
    if not arguments:
        return entries
    if not arguments[0].isdecimal():
        raise CommandError(f"argument numEntriesToShow: {arguments[0]!r} is no whole number")
    count = int(arguments[0])
    return entries[-count:] if count else []


def _ls(shell: Shell, paths: list[str]) -> list[str]:
    files: list[str] = []
    folders: list[tuple[str, Folder]] = []
    problems: list[str] = []
    for path in paths or ["."]:
        try:
            for found in shell.find("ls", path, "no such file or directory"):
                name = found.path[-1] if found.path else "/"
                if isinstance(found.node, str):
                    files.append(name)
                else:
                    folders.append((name, found.node))
        except CommandError as error:
            problems.append(str(error))
    lines = problems + files
    for name, folder in folders:
        if len(folders) > 1 or files:
            lines += [""] * bool(lines) + [f"{name}:"]
        lines += names_in(folder)
    return lines


def _man(_: Shell, names: list[str]) -> list[str]:
    command = COMMANDS.get(names[0])
    if command is None:
        reason = f"unknown command {names[0]}. Type help to get a list of commands."
        raise CommandError(f"man: {reason}")
    usage = f"usage: {names[0]} {command.arguments}".rstrip()
    return [f"{names[0]}: {command.help}", "", usage]


def _pwd(shell: Shell, _: list[str]) -> list[str]:
    return ["/" + "/".join(shell.directory)]


def _tree(shell: Shell, paths: list[str]) -> list[str]:
    def shown(found: Found) -> list[str]:
        return _indented(found.node, "")

    return _each(shell, "tree", paths or ["."], "no such file or directory", shown)


def _indented(node: Tree, margin: str) -> list[str]:
    if isinstance(node, str):
        return [f"{margin}{node}"]
    lines: list[str] = []
    for name in names_in(node):
        lines += [f"{margin}{name}:", *_indented(node[name], margin + "  ")]
    return lines


COMMANDS: Final[dict[str, Command]] = {
    "cat": Command(
        run=_cat, help="Show the contents of metadata files.", arguments="targets...", least=1
    ),
    "cd": Command(run=_cd, help="Set the current working directory.", arguments="[target]", most=1),
    "exit": Command(run=_exit, help="Exit the metadata shell.", most=0),
    "find": Command(
        run=_find_below, help="Search for nodes in the directory hierarchy.", arguments="[paths...]"
    ),
    "help": Command(run=_help, help="Display this help message.", most=0),
    "history": Command(
        run=_history, help="Print command history.", arguments="[numEntriesToShow]", most=1
    ),
    "ls": Command(run=_ls, help="List metadata nodes.", arguments="[targets...]"),
    "man": Command(
        run=_man,
        help="Show the help text for a specific command.",
        arguments="command",
        least=1,
        most=1,
    ),
    "pwd": Command(run=_pwd, help="Print the current working directory.", most=0),
    "tree": Command(
        run=_tree,
        help="Show the contents of metadata nodes in a tree structure.",
        arguments="[targets...]",
    ),
}
