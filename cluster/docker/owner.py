"""Whose a container or a network is: labels that name the run and the process that made it.

Everything of ours carries `kraftproof.run` and `kraftproof.owner`. The label `kraftproof=1` alone
says nothing: containers inherit it from the image.
"""

import re
from collections.abc import Mapping

from kraftproof.cluster.owner import Owner, this_owner
from kraftproof.cluster.processes import Identity

OURS = "kraftproof"
RUN = "kraftproof.run"
OWNER = "kraftproof.owner"
LABEL = re.compile(r"([^:]+):([0-9]+):([0-9]{1,10}):([0-9]{1,20})")
"""Boot id, pid namespace, pid, start time."""


def labels(run: str) -> dict[str, str]:
    """Return the labels of what this process makes for a run."""
    return {OURS: "1", RUN: run, OWNER: this_owner().label}


def owner_of(found: Mapping[str, str]) -> Owner | None:
    """Return the owner that an object's labels name; None when they are not readable."""
    match = LABEL.fullmatch(found.get(OWNER, ""))
    if match is None:
        return None
    boot, namespace, pid, start_time = match.groups()
    process = Identity(boot=boot, pid=int(pid), start_time=int(start_time))
    return Owner(namespace=namespace, process=process)
