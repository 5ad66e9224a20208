"""Refuse a system whose attributes are of a wrong kind, before anything runs.

A text in place of a number would otherwise end the run with an error that looks like ours.
"""

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from kraftproof.cluster.plugin import PluginLoadError, described, origin_of, shown
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.system import Guarantee, System


def _is_texts(value: object) -> bool:
    return isinstance(value, tuple | list | AbstractSet) and all(
        isinstance(one, str) for one in value
    )


def _is_patterns(value: object) -> bool:
    if not isinstance(value, tuple | list):
        return False
    try:
        for one in value:
            re.compile(one)
    except (re.error, TypeError):
        return False
    return True


def _is_guarantees(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(f, str) and isinstance(one, Guarantee) for f, one in value.items()
    )


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


EXPECTED: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "name": (lambda value: isinstance(value, str) and value != "", "a text"),
    "nodes": (lambda value: isinstance(value, str), 'a text such as "3" or "3+3"'),
    "roles_of_nodes": (_is_texts, "a tuple of texts"),
    "roles_of_number": (lambda value: value is None or isinstance(value, str), "a text or None"),
    "backends": (_is_texts, "a tuple of texts"),
    "workloads": (_is_texts, "a tuple of texts"),
    "ready_s": (_is_duration, "a number of seconds above 0"),
    "guarantees": (_is_guarantees, "a Guarantee for each function"),
    "errors": (lambda value: isinstance(value, ErrorTable), "an ErrorTable"),
    "internal_errors": (_is_texts, "a frozenset of texts"),
    "fatal_output": (_is_patterns, "a tuple of regular expressions"),
}
"""For each attribute of a system: the test of its value, and what is expected."""


def require_attributes(reference: str, system: System) -> None:
    """Refuse a system that has an attribute of a wrong kind.

    Raises:
        PluginLoadError: one line that names the class, the attribute and what is expected.
    """
    for name, (is_right, expected) in EXPECTED.items():
        where = f"system {reference}: {origin_of(system)}: {name}"
        try:
            value: object = getattr(system, name)
        except (Exception, SystemExit) as error:
            raise PluginLoadError(f"{where}: {described(error)}") from error
        if not is_right(value):
            raise PluginLoadError(f"{where} is {shown(value)}; {expected} is expected")
