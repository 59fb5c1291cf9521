"""A first result is quick: a command compiles what it uses, each kernel once, and says so only when it does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from meip.bench.startup import COMMANDS, prepare

MOST = {"demo": 8, "learn, three PDDL plans": 16}  # kernels; 6 and 14 were needed when this was written


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("startup")
    prepare(folder)
    return folder


def meip(folder: Path, cache: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-m", "meip", *command], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", MOST)
def test_a_first_run_compiles_few_kernels_each_once(name: str, inputs: Path, tmp_path: Path) -> None:
    first = meip(inputs, tmp_path, *COMMANDS[name])
    assert first.returncode == 0, first.stderr
    compiled = Counter(re.sub(r"-\d+\.py\d+\.\d+\.nbc$", "", str(path)) for path in tmp_path.rglob("*.nbc"))
    assert 0 < len(compiled) <= MOST[name]
    assert set(compiled.values()) == {1}, compiled
    assert first.stderr.count("compiling") == 1
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    later = meip(inputs, tmp_path, *COMMANDS[name])
    assert (later.returncode, later.stderr.count("compiling")) == (0, 0), later.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


ONE_EACH = """
import numpy as np
from meip.base.kernels import kernel

@kernel
def inner(x, i):
    return x[i]

@kernel
def outer(x):
    n = 0
    total = inner(x, n) + inner(x, 1)
    while n < len(x):
        total += inner(x, n)
        n += 1
    return total

assert outer(np.arange(3.0)) == 4.0
print(len(inner.signatures))
"""


def test_a_number_written_out_is_an_integer_like_any_other_to_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "written.py").write_text(ONE_EACH)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found = subprocess.run(
        [sys.executable, "written.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert found.stdout == "1\n", found.stderr
