"""One meaning, one colour; those that stand beside each other differ for the colour-blind too."""

from itertools import combinations

import pytest

from kraftproof.report.colours import (
    DARK,
    FAULTS,
    MEANINGS,
    OTHER_COLOUR,
    colour_of,
    dark_style,
    style,
)

BESIDE = {name: MEANINGS[name] for name in ("ok", "fail", "info", "invalid")} | {
    name: FAULTS[name] for name in ("kill", "pause", "partition", "clock")
}
SIGHTS = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "no green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "no blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""Machado, Oliveira and Fernandes 2009: what people see of linear RGB."""


def seen(colour, sight):
    """Return what somebody sees of a colour, in CIE L*a*b*."""
    linear = [((int(colour[at : at + 2], 16) / 255 + 0.055) / 1.055) ** 2.4 for at in (1, 3, 5)]
    r, g, b = (sum(m * c for m, c in zip(row, linear, strict=True)) for row in SIGHTS[sight])
    r, g, b = (min(1.0, max(0.0, one)) for one in (r, g, b))
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    x, y, z = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_no_two_meanings_share_a_colour():
    colours = [*MEANINGS.values(), *FAULTS.values(), OTHER_COLOUR]
    assert len(set(colours)) == len(colours)
    assert colour_of("a plug-in's fault") == OTHER_COLOUR
    assert f"--ok:{MEANINGS['ok']};" in style()


@pytest.mark.parametrize("sight", SIGHTS)
def test_what_stands_side_by_side_can_be_told_apart(sight):
    assert len(BESIDE) == 8
    for one, other in combinations(BESIDE, 2):
        pairs = zip(seen(BESIDE[one], sight), seen(BESIDE[other], sight), strict=True)
        distance = sum((a - b) ** 2 for a, b in pairs) ** 0.5
        assert distance > 15, (one, other, round(distance, 1))


def luminance(colour):
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(w * one for w, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(
    ("colours", "grounds"),
    [(MEANINGS, ("#ffffff", "#f5f6f8")), ({**MEANINGS, **DARK}, ("#1d2228", "#14181c"))],
    ids=("light", "dark"),
)
def test_verdicts_and_links_are_readable_on_light_and_dark_pages(colours, grounds):
    for name in ("valid", "invalid", "unknown", "needed"):
        for ground in grounds:
            bright, dim = sorted((luminance(colours[name]), luminance(ground)), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (name, ground)


def test_dark_colours_replace_the_same_meanings():
    assert DARK.keys() < MEANINGS.keys()
    assert f"--invalid:{DARK['invalid']};" in dark_style()
    assert dark_style().startswith("@media (prefers-color-scheme: dark)")
