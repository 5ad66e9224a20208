"""Decide from the text of a test whether an expression surely has elements."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
KEEPING = (
    *("sorted", "list", "tuple", "set", "frozenset", "enumerate", "reversed", "iter", "dict"),
    *("product", "permutations", "cycle", "Counter", "deque", "bytes", "repeat"),
)
"""Callables whose result has elements if all of their arguments have."""
VIEWS = ("items", "keys", "values", "copy", "split", "splitlines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The values and parameters of the names in a test.

    Attributes:
        values: The expressions that names are assigned, once each.
        drawn: Parameters that Hypothesis or pytest fills, with elements in some call.
    """

    values: Mapping[str, ast.expr]
    drawn: frozenset[str]

    @classmethod
    def of(cls, function: Function, module: Mapping[str, ast.expr]) -> "Names":
        """Return the names of a test: module constants, local variables and parameters."""
        own = _assigned([node for node in ast.walk(function) if node is not function])
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return cls(
            values={**module, **own},
            drawn=frozenset(parameter.arg for parameter in parameters) & _filled(function),
        )


def _filled(function: Function) -> frozenset[str]:
    """Return the parameters that `given` or `parametrize` fills."""
    names: set[str] = set()
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call):
            continue
        text = ast.unparse(decorator.func)
        if text.endswith("given"):
            names |= {keyword.arg for keyword in decorator.keywords if keyword.arg}
            if decorator.args:
                names |= {each.arg for each in function.args.args}
        elif text.endswith("parametrize"):
            first = ast.literal_eval(decorator.args[0])
            names |= set(first.replace(" ", "").split(",") if isinstance(first, str) else first)
    return frozenset(names)


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the values of the names that a module assigns exactly once."""
    return _assigned(tree.body)


def _assigned(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _assign(target, node.value, found, twice)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _assign(node.target, node.value, found, twice)
    return {name: value for name, value in found.items() if name not in twice}


def _assign(target: ast.expr, value: ast.expr, found: dict[str, ast.expr], twice: set[str]) -> None:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its_value in zip(target.elts, value.elts, strict=False):
            _assign(one, its_value, found, twice)
    elif isinstance(target, ast.Name):
        if target.id in found:
            twice.add(target.id)
        found[target.id] = value


def is_never_empty(node: ast.expr, names: Names, depth: int = 10) -> bool:
    """Return whether an expression surely has an element; False if the text gives no evidence."""
    if depth == 0:
        return False
    match node:
        case ast.Constant(value=str() | bytes()):
            return bool(node.value)
        case ast.Tuple() | ast.List() | ast.Set():
            return any(_is_element(each, names, depth) for each in node.elts)
        case ast.Dict():
            return bool(node.keys)
        case ast.Name() if node.id in names.drawn:
            return True
        case ast.Name() if node.id in names.values:
            return is_never_empty(names.values[node.id], names, depth - 1)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return all(
                not each.ifs and is_never_empty(each.iter, names, depth - 1)
                for each in node.generators
            )
        case ast.BinOp(op=ast.Add() | ast.BitOr()):
            sides = (node.left, node.right)
            return any(is_never_empty(side, names, depth - 1) for side in sides)
        case ast.Call():
            return _call_has_elements(node, names, depth - 1)
        case _:
            return _is_repeated(node, names, depth - 1)


def _is_repeated(node: ast.expr, names: Names, depth: int) -> bool:
    """Return whether an expression is a sequence with elements, repeated by a number."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    sides = (node.left, node.right)
    numbers = [each.value for each in sides if isinstance(each, ast.Constant)]
    return numbers != [0] and any(is_never_empty(side, names, depth) for side in sides)


def _is_element(node: ast.expr, names: Names, depth: int) -> bool:
    return not isinstance(node, ast.Starred) or is_never_empty(node.value, names, depth - 1)


def _call_has_elements(call: ast.Call, names: Names, depth: int) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr in VIEWS:
        return is_never_empty(call.func.value, names, depth)
    name = ast.unparse(call.func).rpartition(".")[2]
    given = [is_never_empty(each, names, depth) for each in call.args]
    if name == "range":
        return _range_has_elements(call, names)
    if name == "zip":
        is_strict = any(each.arg == "strict" and _is_true(each.value) for each in call.keywords)
        return bool(given) and (any(given) if is_strict else all(given))
    if name == "map":
        return len(given) > 1 and all(given[1:])
    if name == "chain":
        return any(given)
    if name == "count":
        return True
    if name in {"sorted", "enumerate", "product", "permutations"}:
        return bool(given) and given[0]
    return name in KEEPING and bool(given) and all(given)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _range_has_elements(call: ast.Call, names: Names) -> bool:
    bounds = []
    for each in call.args:
        value = names.values.get(each.id) if isinstance(each, ast.Name) else each
        if not isinstance(value, ast.Constant) or not isinstance(value.value, int):
            return False
        bounds.append(value.value)
    return bool(range(*bounds))
