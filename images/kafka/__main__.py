"""`python -m kraftproof.images.kafka [RELEASE]`: fetch Kafka's jars, and print their folder."""

import sys

from kraftproof.images.errors import ImageError
from kraftproof.images.kafka.jars import ensure_jars


def main() -> int:
    """Fetch the jars; an error is one line and status 1."""
    try:
        folder = ensure_jars(lambda line: sys.stderr.write(f"{line}\n"), *sys.argv[1:2])
    except ImageError as error:
        sys.stderr.write(f"images.kafka: {error}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
