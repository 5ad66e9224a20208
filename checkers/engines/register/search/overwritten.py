"""Refute calls of a register that found a value which was definitely overwritten.

A value is overwritten for a call if some completed update to another value ran entirely after every
update to this value and before the call was invoked; the initial value was written before all
events. One pass over the calls, O(n), settles most wrong answers, for which a search would have to
try all effects of many open and indeterminate calls.
"""

from kraftproof.checkers.calls.register import READ, RegisterCalls
from kraftproof.checkers.calls.values import NO_VALUE


def is_overwritten(calls: RegisterCalls, key: int, call: int) -> bool:
    """Return whether the value that a call found or compared with was gone for sure.

    Args:
        calls: all calls.
        key: the key.
        call: The number of a completed call.
    """
    of_key = slice(int(calls.starts[key]), int(calls.starts[key + 1]))
    invoke, complete, new = calls.invoke[of_key], calls.complete[of_key], calls.new[of_key]
    found, begun, over = calls.expected[call], calls.invoke[call], calls.complete[call]
    if found == NO_VALUE:
        return False
    updates = calls.action[of_key] != READ
    updates[call - of_key.start] = False
    leaves = updates & (new == found) & (invoke < over)
    if found != calls.initial and not leaves.any():
        return True
    last = int(complete[leaves].max(initial=-1))
    return bool((updates & (new != found) & (invoke > last) & (complete < begun)).any())
