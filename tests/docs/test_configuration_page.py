"""docs/configuration.md is the page that its script writes."""

from scripts.configuration_page import PAGE, page


def test_the_page_of_configurations_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m scripts.configuration_page"
