"""Whether what a call of a register found was gone for sure before it began.

A value is gone if a call that surely left another one was invoked after all that may have left it
were over, and was over before the call was invoked: it comes between them in every order. The first
value was left before all events. One look at the calls, O(n): it settles most wrong answers where a
search would have to try all that many open and indeterminate calls can do.
"""

from kraftproof.checkers.calls.register import READ, RegisterCalls
from kraftproof.checkers.calls.values import NO_VALUE


def is_overwritten(calls: RegisterCalls, key: int, call: int) -> bool:
    """Says whether the value that a call found or compared with was gone for sure.

    Args:
        calls: all calls.
        key: the key.
        call: which of the calls; one that was over.
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
