"""``meip studio`` says in one line what it lacks, and starts nothing then."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from meip.cli import run


def test_without_its_packages_it_names_the_command_that_installs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("meip.cli.studio.find_spec", lambda name: None)
    assert run(["studio", str(tmp_path / "p")]) == 2
    assert capsys.readouterr().err.strip().endswith("pip install 'meip[studio]'") and not (tmp_path / "p").exists()


def test_a_port_that_is_taken_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert run(["studio", str(tmp_path / "p"), "--port", str(port), "--no-browser"]) == 2
    assert f"port {port} of 127.0.0.1 cannot be used" in capsys.readouterr().err and not (tmp_path / "p").exists()


@pytest.mark.parametrize("world", ["no_such_module:World", "json:nothing"])
def test_a_world_that_cannot_be_loaded_is_named_and_the_folder_given_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], world: str
) -> None:
    pytest.importorskip("fastapi")
    for _ in range(2):
        assert run(["studio", str(tmp_path / "p"), "--no-browser", "--world", world]) == 2
        said = capsys.readouterr().err
        assert world in said and said.count("\n") == 1 and "another studio" not in said


def test_a_file_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi")
    (tmp_path / "p").write_text("mine")
    assert run(["studio", str(tmp_path / "p"), "--no-browser"]) == 2
    assert "it is a file" in capsys.readouterr().err and (tmp_path / "p").read_text() == "mine"


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["studio", "--help"]) == 0
    assert "meip studio garden --world garden:Garden" in capsys.readouterr().out
