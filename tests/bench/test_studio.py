"""The studio's benchmark asks a real server."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")
from meip.bench import studio


def test_previews_the_first_page_and_long_lists_are_measured() -> None:
    rows = studio.run(repeats=5)
    assert all(row["value"] > 0 for row in rows)
    work = " ".join(row["work"] for row in rows)
    assert all(word in work for word in ("preview of a line", "first page", "50 demonstrations", "1,000 points"))
    assert {row["metric"] for row in rows if "preview" in row["work"]} == {"median seconds", "95th percentile"}
