"""The worlds in the examples folder are worlds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from meip import check_world

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"examples.{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_packing_example_is_a_world_in_about_forty_lines() -> None:
    assert check_world(load("packing").Packing()) == []
    lines = [line for line in (EXAMPLES / "packing.py").read_text().splitlines() if line.strip()]
    assert len(lines) < 60
