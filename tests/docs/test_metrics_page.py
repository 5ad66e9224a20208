"""docs/metrics.md and docs/grafana.json are what their script writes."""

import json

from scripts.metrics_page import DASHBOARD, PAGE, PANELS, dashboard, page


def test_the_page_and_the_dashboard_are_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m scripts.metrics_page"
    assert DASHBOARD.read_text(encoding="utf-8") == dashboard(), (
        "run python -m scripts.metrics_page"
    )


def test_no_two_panels_overlap_and_each_query_selects_the_job() -> None:
    panels = json.loads(dashboard())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    assert len(queries) == sum(len(queries) for _, _, _, queries in PANELS)
    for query in queries:
        assert query.count("kafka_") == query.count('{job="$job"}')
