"""The last words of a node: the line that names the error, not a call of its stack trace."""

import tracemalloc

from kraftproof.cluster.remote.output import last_lines, last_words

MEBIBYTE = 1 << 20


def test_the_last_words_are_no_call_of_a_stack_trace(tmp_path) -> None:
    output = tmp_path / "output.log"
    assert last_words(tmp_path) == "nothing printed"
    output.write_text("started\njava.lang.RuntimeException: broken\n\tat a.B.c(D.java:3)\n\n")
    assert last_words(tmp_path) == "java.lang.RuntimeException: broken"
    output.write_text("  only this line\n")
    assert last_words(tmp_path) == "only this line"
    (tmp_path / "own.log").write_text("of the log\n")
    output.write_text("\n")
    assert last_words(tmp_path, ["own.log"]) == "of the log"


def test_the_last_lines_are_one_line_of_at_most_three(tmp_path) -> None:
    output = tmp_path / "output.log"
    output.write_text("one\ntwo\n\nTraceback:\n  in f\nOSError: no such file\n")
    assert last_lines(tmp_path) == "two / Traceback: / OSError: no such file"
    output.write_text("one\n")
    assert last_lines(tmp_path) == "one"


def test_only_the_end_of_a_long_output_is_read(tmp_path) -> None:
    with (tmp_path / "output.log").open("wb") as output:
        output.truncate(100 * MEBIBYTE)  # a file of zeros that takes no space
        output.seek(0, 2)
        output.write(b"\nthe last line\n")
    tracemalloc.start()
    assert last_words(tmp_path) == "the last line"
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * MEBIBYTE
