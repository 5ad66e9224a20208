"""`python -m kraftproof.images`: build the images; `--plan`: print the source of the base image."""

import argparse
import sys

from kraftproof.images.base import plan
from kraftproof.images.build import ensure_reference_image
from kraftproof.images.context import connect
from kraftproof.images.errors import ImageError


def say(line: str) -> None:
    """Print a line of progress at once, since a step takes up to half a minute."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Build the images, or print the source of the base image.

    Return 1 after an error of one line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m kraftproof.images", description="Make the images."
    )
    parser.add_argument(
        "--plan", action="store_true", help="print present, registry or debian, and make nothing"
    )
    options = parser.parse_args()
    try:
        if options.plan:
            say(plan(connect(None)))
        else:
            ensure_reference_image(progress=say)
    except ImageError as error:
        sys.stderr.write(f"images: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
