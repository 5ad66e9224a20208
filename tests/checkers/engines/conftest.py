"""Distributions that bring an engine, installed for the time of a test."""

import textwrap

import pytest

from kraftproof.checkers.engines.registry import ENTRY_POINT_GROUP, installed


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution that brings one engine, for the time of a test."""
    installed.cache_clear()

    def installs(package, source, name, value):
        site = tmp_path / package
        metadata = site / f"{package}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (site / f"{package}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            f"[{ENTRY_POINT_GROUP}]\n{name} = {package}:{value}\n", encoding="utf-8"
        )
        monkeypatch.syspath_prepend(site)
        return site / f"{package}.py"

    yield installs
    installed.cache_clear()
