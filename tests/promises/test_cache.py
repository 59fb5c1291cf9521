"""Compiled code is kept where it can be, and its absence stops nobody: read-only installs, no home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

READ_ONLY = """
import numba.core.caching as caching
caching.InTreeCacheLocator.from_function = classmethod(lambda *_: None)
from meip.base.kernels import kernel, uniform
import numpy as np
print(uniform(np.zeros(1, np.uint64)))
"""


@pytest.mark.parametrize("temporary", [True, False])
def test_without_a_folder_to_write_to_kernels_still_run_and_one_line_says_so(temporary: bool, tmp_path: Path) -> None:
    home = {"HOME": "/proc/nobody", "XDG_CACHE_HOME": "/proc/nobody", "TMPDIR": str(tmp_path)}
    environment = {**os.environ, **home}
    environment.pop("NUMBA_CACHE_DIR", None)
    code = READ_ONLY if temporary else "import tempfile; tempfile.gettempdir = lambda: '/proc/nobody'" + READ_ONLY
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert found.returncode == 0 and 0 <= float(found.stdout) < 1, found.stderr
    assert len(found.stderr.splitlines()) == 1, found.stderr
    folder = tmp_path / f"meip-kernels-{os.getuid()}"
    if temporary:
        assert f"compiled code is kept in {folder}" in found.stderr
        assert folder.stat().st_mode & 0o077 == 0 and any(folder.rglob("*.nbi"))
    else:
        assert "compiled code is not kept" in found.stderr


def test_the_shell_and_make_keep_compiled_code_in_one_place() -> None:
    assert "NUMBA_CACHE_DIR" not in (Path(__file__).parents[2] / "Makefile").read_text()
