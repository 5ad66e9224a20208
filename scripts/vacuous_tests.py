"""Find tests that pass on empty data.

`python -m scripts.vacuous_tests [FILE ...]`, part of `make lint`. A test is named if each of its
assertions is in a loop or a branch that may not run, follows an early return, or holds for empty
data, such as `all(...)` of an empty list. A test that sleeps without an assertion is named, too.
An assertion of non-empty data repairs a test. Exit status 1 if tests are named.
A helper of the tests counts as an assertion if the helper surely asserts.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from scripts.never_empty import Names, constants, is_never_empty

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ("fail", "raises", "warns", "deprecated_call", "approx_equal")
EMPTY_CALLS = ("set", "list", "tuple", "dict", "frozenset")
COLLECTING = (*EMPTY_CALLS, "sorted")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
MOST_STEPS = 10
"""Names and calls that an expression is followed through, at most."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Asserts:
    """Decides whether a function has an assertion that runs for any data."""

    def __init__(self, names: Names, helpers: Iterable[str], modules: Iterable[str] = ()) -> None:
        self._names = names
        self._modules = frozenset(modules)
        self._helpers = frozenset(helpers)

    def surely(self, statements: Sequence[ast.stmt]) -> bool:
        """Return whether a block has an assertion that runs and does not hold for no data."""
        for statement in statements:
            if self._one(statement):
                return True
            if _may_return(statement):
                return False
        return False

    def _one(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assert():
                return not self.holds_for_nothing(statement.test)
            case ast.For() | ast.AsyncFor():
                runs = is_never_empty(statement.iter, self._names)
                return self._calls_check(statement.iter) or (runs and self.surely(statement.body))
            case ast.While(test=ast.Constant() | ast.Compare()):
                return self.surely(statement.body)  # it goes on until it has seen enough
            case ast.If():
                return self.surely(statement.body) and self.surely(statement.orelse)
            case ast.With() | ast.AsyncWith():
                entered = any(self._calls_check(item.context_expr) for item in statement.items)
                return entered or self.surely(statement.body)
            case ast.Try():
                return self.surely(statement.body) or self.surely(statement.finalbody)
            case ast.Match():
                return all(self.surely(case.body) for case in statement.cases)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self.surely(statement.body)
            case ast.ClassDef():
                return False
            case _:
                return self._calls_check(statement)

    def _calls_check(self, node: ast.AST) -> bool:
        return any(self._is_check(each) for each in ast.walk(node) if isinstance(each, ast.Call))

    def _is_check(self, call: ast.Call) -> bool:
        match call.func:
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in self._modules:
                return name in CHECKS or name.startswith("assert_")
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return name.startswith("assert_") or name in self._helpers
            case _:
                return False

    def holds_for_nothing(self, test: ast.expr) -> bool:
        """Return whether a condition is true if the data that it iterates over is empty."""
        match test:
            case ast.BoolOp(op=ast.And()):
                return all(self.holds_for_nothing(value) for value in test.values)
            case ast.Call(func=ast.Name(id="all"), args=[iterated]):
                return self._may_be_empty(iterated)
            case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="any"), args=[inner])):
                return self._may_be_empty(inner)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._collects_nothing(operand)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                pairs = ((left, right), (right, left))
                return any(_is_nothing(one) and self._collects_nothing(two) for one, two in pairs)
            case ast.Compare(left=left, ops=[ast.LtE()]):
                return self._collects_nothing(left)
            case _:
                return False

    def _collects_nothing(self, node: ast.expr) -> bool:
        """Return whether an expression is a comprehension over data that may be empty."""
        for _ in range(MOST_STEPS):
            match node:
                case ast.Name(id=name) if name in self._names.values:
                    node = self._names.values[name]
                case ast.Call(func=ast.Name(id=name), args=[inner]) if name in COLLECTING:
                    node = inner
                case _:
                    return isinstance(node, COMPREHENSIONS) and self._may_be_empty(node)
        return False

    def _may_be_empty(self, iterated: ast.expr) -> bool:
        """Return whether iterated data may be empty; an empty result of a filter is legitimate."""
        if isinstance(iterated, COMPREHENSIONS):
            return not all(is_never_empty(each.iter, self._names) for each in iterated.generators)
        return not is_never_empty(iterated, self._names)


def _may_return(statement: ast.AST) -> bool:
    """Return whether a statement may return from its function."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return False
    inner = map(_may_return, ast.iter_child_nodes(statement))
    return isinstance(statement, ast.Return) or any(inner)


def _is_nothing(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in EMPTY_CALLS and not node.args
    if isinstance(node, ast.Dict):
        return not node.keys
    return isinstance(node, ast.List | ast.Tuple | ast.Set) and not node.elts


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of the tests: its functions and methods, constants, and imported modules."""

    functions: tuple[Function, ...]
    constants: Mapping[str, ast.expr]
    modules: frozenset[str]

    @classmethod
    @cache
    def of(cls, tree: ast.Module) -> "Module":
        """Return a module's parts."""
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        bodies = [tree.body, *(each.body for each in classes)]
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
        return cls(
            functions=tuple(node for body in bodies for node in body if isinstance(node, Function)),
            constants=constants(tree),
            modules=frozenset(one.asname or one.name for node in imports for one in node.names),
        )


def _judge(function: Function, names: Names, module: Module, helpers: Iterable[str]) -> bool:
    return Asserts(names, helpers, module.modules).surely(function.body)


def asserting_helpers(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the names of the functions that surely assert, themselves or by another helper."""
    found: frozenset[str] = frozenset()
    modules = [Module.of(tree) for tree in trees]
    rest = [
        (each, Names.of(each, module.constants), module)
        for module in modules
        for each in module.functions
        if not each.name.startswith("test")
    ]
    while True:
        rest = [(each, names, module) for each, names, module in rest if each.name not in found]
        more = {each.name for each, names, module in rest if _judge(each, names, module, found)}
        if not more:
            return found
        found |= more


def vacuous(tree: ast.Module, helpers: Iterable[str]) -> Iterator[Function]:
    """Yield the tests of a module whose assertions may all be skipped."""
    module = Module.of(tree)
    for function in module.functions:
        claims = any(isinstance(node, ast.Assert) or _sleeps(node) for node in ast.walk(function))
        if function.name.startswith("test") and claims:
            names = Names.of(function, module.constants)
            if not _judge(function, names, module, helpers):
                yield function


def _sleeps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="sleep") | ast.Name(id="sleep")):
            return True
        case _:
            return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tests that pass for no data; return the exit status."""
    wanted = sys.argv[1:] if arguments is None else arguments
    chosen: dict[Path, ast.Module] = {}
    for path in (Path(one).resolve() for one in wanted):
        try:
            chosen[path] = ast.parse(path.read_bytes())
        except (OSError, SyntaxError) as error:
            print(f"vacuous_tests: {path}: {error}: a Python file is expected", file=sys.stderr)
            return 2
    every = {path: ast.parse(path.read_bytes()) for path in sorted((ROOT / "tests").rglob("*.py"))}
    helpers = asserting_helpers(every.values())
    found = 0
    for path, tree in (chosen or every).items():
        for function in vacuous(tree, helpers):
            found += 1
            where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f"{where}:{function.lineno}: {function.name} may pass without an assertion")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
