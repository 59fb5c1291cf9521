"""Where the planning competition's files are, for tests that read them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DOMAINS = ("blocksworld", "childsnack", "ferry", "miconic", "satellite", "spanner")


def ipc_folder() -> Path:
    """The folder with the six domains; the test is skipped where it is absent."""
    places = [Path(__file__).parents[3] / "../shared/data"]
    if "MEIP_DATA" in os.environ:
        places.append(Path(os.environ["MEIP_DATA"]))
    for place in places:
        if (place / "ipc2023").is_dir():
            return place / "ipc2023"
    pytest.skip("the planning competition's files (shared/data/ipc2023) are not here; set MEIP_DATA to their folder")
