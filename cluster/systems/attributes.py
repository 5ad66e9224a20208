"""Attributes of a system, each with the test of its value and what is expected."""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.cluster.plugin_attributes import Expected, is_named, is_texts
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.system import Guarantee

LONGEST_S: Final = 86_400
"""The longest time until a cluster is ready: a day."""

LONGEST_CLOCK_STEP_S: Final = 1
"""The longest step of a reported wall clock: an offset may differ by a second from its evidence."""


def _is_patterns(value: object) -> bool:
    if not isinstance(value, tuple | list):
        return False
    try:
        for one in value:
            re.compile(one)
    except (re.error, TypeError):
        return False
    return True


def _is_step(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= LONGEST_CLOCK_STEP_S


def _is_guarantees(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(f, str) and isinstance(one, Guarantee) for f, one in value.items()
    )


def _is_duration(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 < value <= LONGEST_S


ATTRIBUTES: Final[Expected] = {
    "name": (is_named, "a text"),
    "nodes": (lambda value: isinstance(value, str), 'a text such as "3" or "3+3"'),
    "roles_of_nodes": (is_texts, "a tuple of texts"),
    "roles_of_number": (lambda value: value is None or isinstance(value, str), "a text or None"),
    "known_roles": (is_texts, "a tuple of texts"),
    "backends": (is_texts, "a tuple of texts"),
    "workloads": (is_texts, "a tuple of texts"),
    "ready_s": (_is_duration, f"a number of seconds above 0 and up to {LONGEST_S}"),
    "answers_s": (_is_duration, f"a number of seconds above 0 and up to {LONGEST_S}"),
    "guarantees": (_is_guarantees, "a Guarantee for each function"),
    "errors": (lambda value: isinstance(value, ErrorTable), "an ErrorTable"),
    "internal_errors": (is_texts, "a frozenset of texts"),
    "fatal_output": (_is_patterns, "a tuple of regular expressions"),
    "clock_step_s": (_is_step, f"a number of seconds from 0 to {LONGEST_CLOCK_STEP_S}"),
    "takes_mutants": (lambda value: isinstance(value, bool), "True or False"),
}
