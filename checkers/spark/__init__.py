"""The Spark engine: the same checks as the inline one, spread over (run, key).

No other package of this repository imports pyspark. Importing this package without the extra
`spark` fails with one line for the user.
"""

from importlib.util import find_spec

from kraftproof.checkers.verdict import CheckerInputError

if any(find_spec(name) is None for name in ("pandas", "pyspark")):
    raise CheckerInputError("Spark needs the extra spark: pip install 'kraftproof[spark]'")
