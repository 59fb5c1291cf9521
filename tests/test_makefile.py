"""What `make` says on machines that lack something."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return subprocess.run(
        ["make", "--no-print-directory", "UV=", *arguments], cwd=folder, capture_output=True, text=True
    )


def fake_python(folder: Path, script: str) -> str:
    path = folder / "fake-python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"PYTHON={path}"


def test_without_python_it_says_so(tmp_path: Path) -> None:
    done = make(tmp_path, "PYTHON=no-such-python", "demo")
    assert done.returncode != 0 and "meip needs Python 3.11 or newer: 'no-such-python' is not on PATH" in done.stdout


def test_with_an_old_python_it_names_its_version(tmp_path: Path) -> None:
    old = fake_python(tmp_path, 'case "$1" in --version) echo Python 3.8.1;; *) exit 1;; esac')
    done = make(tmp_path, old, "demo")
    assert done.returncode != 0 and "Python 3.8.1 is too old" in done.stdout


def test_with_a_python_that_cannot_make_environments_it_names_the_package(tmp_path: Path) -> None:
    bare = fake_python(tmp_path, 'case "$2" in *ensurepip*) exit 1;; *) exit 0;; esac')
    done = make(tmp_path, bare, "demo")
    assert done.returncode != 0 and "apt-get install python3-venv" in done.stdout


def test_make_alone_lists_the_targets(tmp_path: Path) -> None:
    done = make(tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "demo",
        "studio",
        "test",
        "lint",
        "bench",
        "attack",
        "studio-shots",
        "clean",
    ]
