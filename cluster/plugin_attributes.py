"""Refuse a plug-in whose attributes are of a wrong kind, before anything runs.

A text in place of a number would otherwise end the run with an error that looks like ours.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from kraftproof.cluster.plugin import PluginLoadError, described, is_mistake, origin_of, shown

Expected = Mapping[str, tuple[Callable[[object], bool], str]]
"""For each attribute of a kind of plug-in: the test of its value, and what is expected."""


def is_texts(value: object) -> bool:
    """Return whether a value is a tuple, list or set of texts."""
    return isinstance(value, tuple | list | AbstractSet) and all(
        isinstance(one, str) for one in value
    )


def is_named(value: object) -> bool:
    """Return whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def require_attributes(
    kind: str, reference: str, made: object, expected: Expected, *, may_lack: bool = False
) -> None:
    """Refuse a plug-in that has an attribute of a wrong kind.

    Args:
        kind: the kind of the plug-in.
        reference: its name in the command.
        made: the instance.
        expected: its attributes.
        may_lack: whether attributes may be missing.

    Raises:
        PluginLoadError: one line that names the class, the attribute and what is expected.
    """
    for name, (is_right, wanted) in expected.items():
        where = f"{kind} {reference}: {origin_of(made)}: {name}"
        try:
            if may_lack and not hasattr(made, name):
                continue
            value: object = getattr(made, name)
        except BaseException as error:
            if not is_mistake(error):
                raise
            raise PluginLoadError(f"{where}: {described(error)}") from error
        if not is_right(value):
            raise PluginLoadError(f"{where} is {shown(value)}; {wanted} is expected")
