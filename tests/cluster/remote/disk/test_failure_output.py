"""The last words of a node decide whether it ended because of its failed disk."""

import pytest

from kraftproof.cluster.remote.disk.failure_output import failure_line

FULL = "No space left on device"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"OSError: [Errno 28] {FULL}\n", f"OSError: [Errno 28] {FULL}"),
        (f"java.io.IOException: {FULL}\n\tat a.B.c(D.java:3)\n\n", f"java.io.IOException: {FULL}"),
        (f"fatal: {FULL}\n[12:00] INFO stopped\n[12:01] WARN late\n", f"fatal: {FULL}"),
        ('{"level":"fatal","error":"no space left on device"}\n{"level":"info"}\n', None),
        (f"panic: write /x: {FULL}\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x1\n", None),
    ],
)
def test_a_last_word_that_names_the_disk(text, line):
    found = failure_line(text, "full")
    assert found is not None
    assert line in {None, found}
    assert failure_line(text, "fsync") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        f"ERROR write failed: {FULL}\npanic: nil pointer\n",
        f"ERROR write failed: {FULL}\nno more\n",
        f"retry: {FULL}\nTraceback (most recent call last):\n  x\nValueError: 3\n",
        "INFO stopped\n",
    ],
)
def test_a_last_word_of_another_reason(text):
    assert failure_line(text, "full") is None


def test_a_failed_write_or_fsync_is_an_input_output_error():
    text = "java.io.IOException: Input/output error\n"
    assert failure_line(text, "write") == failure_line(text, "fsync") == text.strip()
    assert failure_line(text, "full") is None
