"""The readers of logs run compiled, as in every command: their integers have the widths of C."""

import pytest


@pytest.fixture(autouse=True)
def plain_python() -> None:
    """Take the place of the fixture that runs the kernels of engines as plain Python."""
