"""Names of Kafka's error codes; which of them refuse a request is a matter of the system."""

from kraftproof.node.wire.errors import ErrorCode


def error_name(error_code: int) -> str:
    """Return the name of an error code, or its number."""
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return str(error_code)
