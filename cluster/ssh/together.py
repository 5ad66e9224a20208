"""Do work on several hosts at the same time, and join their errors."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from kraftproof.cluster.protocol import ClusterError, ContaminatedError

T = TypeVar("T")


async def together(jobs: Iterable[Awaitable[T]]) -> list[T]:
    """Return the results of all jobs in their order, after the end of each.

    Raises:
        ClusterError: the error of a host, or the errors of several joined in one line.
        ContaminatedError: the same, if one of the errors is of this kind.
    """
    results = await asyncio.gather(*jobs, return_exceptions=True)
    errors: list[ClusterError] = []
    found: list[T] = []
    for result in results:
        if isinstance(result, ClusterError):
            errors.append(result)
        elif isinstance(result, BaseException):
            raise result
        else:
            found.append(result)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        is_contaminated = any(isinstance(error, ContaminatedError) for error in errors)
        kind = ContaminatedError if is_contaminated else ClusterError
        raise kind("; ".join(map(str, errors)))
    return found
