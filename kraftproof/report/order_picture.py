"""Draw order views of partitions as SVG: a row for each observer, a column for each offset.

Equal values at an offset have one colour: the colour of the final read, or else another one for
each further value. The column of the finding is marked.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from markupsafe import Markup

from kraftproof.checkers.history.tables import read_table, table_path
from kraftproof.checkers.logs.around import OrderView, ViewRow, order_views
from kraftproof.checkers.sources import TABLES_DIRECTORY
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import RunVerdict
from kraftproof.report.colours import dark_style, style
from kraftproof.report.environment import template
from kraftproof.run.directory import RunDirectory

MODEL: Final = "log"
ROW: Final = 24
LABEL: Final = 230
CELL: Final = 66
_FINAL: Final = "final read"
_EPOCH: Final = re.compile(r"e[0-9]+")


def order_views_of(directory: RunDirectory, run: RunVerdict) -> list[OrderView]:
    """Return the order views of a judged run; empty for another model than `log`."""
    tables = directory.path / TABLES_DIRECTORY
    if run.model != MODEL or not run.findings or not table_path(tables, "operations").exists():
        return []
    has_replicas = table_path(tables, "replicas").exists()
    replicas = read_table(tables, "replicas") if has_replicas else None
    return order_views(run.findings, read_table(tables, "operations"), replicas)


def svg_of(view: OrderView) -> Markup:
    """Return the picture of an order view."""
    height, width = ROW * (len(view.rows) + 2), LABEL + CELL * len(view.offsets)
    drawn = [
        f'<svg class="orders" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" role="img"'
        f' aria-label="records of {escape(view.key)} around offset {view.offset}">',
        _marked_column(view, height),
        _header(view),
        *(_row(view, row, place) for place, row in enumerate(view.rows)),
        "</svg>",
    ]
    return Markup("".join(drawn))  # noqa: S704 every text in it is escaped


def page_of(views: Sequence[OrderView]) -> str:
    """Return a page with the pictures of some order views, which needs no network."""
    return template("orders.html.j2").render(
        views=views, order_svg=svg_of, shortened=shortened, colours=f"{style()}\n{dark_style()}"
    )


def _x(view: OrderView, offset: int) -> int:
    return LABEL + CELL * view.offsets.index(offset)


def _marked_column(view: OrderView, height: int) -> str:
    x = _x(view, view.offset)
    return f'<rect class="mark" x="{x}" y="0" width="{CELL}" height="{height}"/>'


def _header(view: OrderView) -> str:
    cells = (
        f'<text x="{_x(view, offset) + CELL // 2}" y="{ROW - 7}" text-anchor="middle">'
        f"{offset}</text>"
        for offset in view.offsets
    )
    return f'<text class="head" x="4" y="{ROW - 7}">offset</text>{"".join(cells)}'


def _row(view: OrderView, row: ViewRow, place: int) -> str:
    y = ROW * (place + 1)
    kind = "label named" if row.is_of_finding else "label"
    label = f'<text class="{kind}" x="4" y="{y + ROW - 7}">{escape(row.label)}</text>'
    cells = (_cell(view, row, offset, y) for offset in view.offsets)
    return label + "".join(cells)


def _cell(view: OrderView, row: ViewRow, offset: int, y: int) -> str:
    value = row.cells.get(offset)
    if value is None:
        return ""
    x, kind = _x(view, offset), "same" if _agrees(view, offset, value) else "other"
    box = (
        f'<rect class="cell {kind}" x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{ROW - 4}"/>'
    )
    where = f'x="{x + CELL // 2}" y="{y + ROW - 7}" text-anchor="middle"'
    return f'{box}<text class="value" {where}>{escape(value)}</text>'


def _agrees(view: OrderView, offset: int, value: str) -> bool:
    """Return whether an observer saw what the final read saw, or the first observer without one.

    The cell of a replica has the leader epoch after the value, such as e3.
    """
    values = {word for word in value.split(" ") if not _EPOCH.fullmatch(word)}
    return values == {_reference(view.rows, offset)}


def _reference(rows: Sequence[ViewRow], offset: int) -> str:
    final = next((row for row in rows if row.label == _FINAL), None)
    if final is not None and final.cells:
        return final.cells.get(offset, "")
    return next((row.cells[offset] for row in rows if offset in row.cells), "")
