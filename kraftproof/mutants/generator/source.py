"""The source of a module with its syntax tree, and a replacement of a span of the source."""

import ast
import hashlib
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property

from kraftproof.mutants.mutant import Edit

ATOMS = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)
"""Expressions that need no parentheses as an operand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """New text for the characters from `start` to `end` of a source."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A module's source; positions are character offsets from the start of the text."""

    module: str
    path: str
    """The path for messages and diffs, such as kraftproof/node/core/raft/raft.py."""
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the module."""
        return ast.parse(self.text)

    @cached_property
    def structure(self) -> str:
        """The syntax tree of the module as a text, without positions."""
        return ast.dump(self.tree)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """Return the position of a line, counted from 1, and a column in bytes of UTF-8."""
        prefix = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(prefix)

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Return the positions of the first character of a node and behind its last character."""
        assert node.end_lineno is not None, "a parsed node has an end"
        assert node.end_col_offset is not None, "a parsed node has an end"
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def text_of(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """Return the text of a node, without parentheses around the node."""
        start, end = self.span(node)
        return self.text[start:end]

    def operand(self, node: ast.expr) -> str:
        """Return the text of an expression, in parentheses unless the expression is an atom."""
        text = self.text_of(node)
        return text if isinstance(node, ATOMS) else f"({text})"

    def line_of(self, position: int) -> int:
        """Return the line of a position, counted from 1."""
        return self.text.count("\n", 0, position) + 1

    def applied(self, replacement: Replacement) -> str:
        """Return the source with the replacement."""
        return self.text[: replacement.start] + replacement.text + self.text[replacement.end :]

    def edit(self, replacement: Replacement) -> Edit:
        """Return the replacement as an edit of whole lines that occur exactly once."""
        first = self.line_of(replacement.start) - 1
        last = self.line_of(max(replacement.start, replacement.end - 1))
        while True:
            start, end = self._starts[first], self._starts[last]
            old = self.text[start:end]
            if self.text.find(old) == self.text.rfind(old):  # also not twice with an overlap
                break
            first, last = max(0, first - 1), min(len(self._lines), last + 1)
        before, after = self.text[start : replacement.start], self.text[replacement.end : end]
        return Edit(module=self.module, old=old, new=before + replacement.text + after)

    def diff(self, replacement: Replacement) -> str:
        """Return the replacement as a unified diff."""
        changed = self.applied(replacement).splitlines(keepends=True)
        return "".join(unified_diff(self._lines, changed, f"a/{self.path}", f"b/{self.path}"))


def fingerprint(edit: Edit) -> str:
    """Return a short hash of an edit, which stays when other lines of the module change."""
    content = "\0".join((edit.module, edit.old, edit.new))
    return hashlib.sha256(content.encode()).hexdigest()[:8]
