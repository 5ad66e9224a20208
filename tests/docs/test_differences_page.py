"""docs/differences.md is the table that the comparison with real Kafka checks."""

from tests.kafka.differential.expected import PAGE, page


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
