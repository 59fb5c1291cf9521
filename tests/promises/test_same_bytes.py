"""Promises 1 and 2: the same seed gives the same bytes of the saved task, for any number of processes and any
PYTHONHASHSEED, also where a worker is killed; on clusters: `test_clusters.py`."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest

from attack.resume import CASES
from meip import learn
from meip.base.packing import Batch, Done, work
from meip.base.parallel import Workers
from meip.experiments.rites import paper_demonstrations
from meip.learning.checkpoint import Checkpoint, KeptRounds

LEARN = """
import sys
sys.path.insert(0, sys.argv[3])
from attack.resume import CASES
from meip import learn
for number, name in enumerate(("choices", "choices, PDDL", "plans, three members", "svm", "plans, sampled")):
    made, options = CASES[name]
    learn(made(), seed=3, jobs=int(sys.argv[2]), **options).save(f"{sys.argv[1]}-{number}.json")
"""


def test_the_same_seed_gives_the_same_bytes_for_any_jobs_and_five_hash_seeds(tmp_path: Path) -> None:
    for hash_seed in range(5):
        command = [sys.executable, "-c", LEARN, str(tmp_path / str(hash_seed)), str(1 + hash_seed % 2)]
        environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        subprocess.run([*command, str(Path(__file__).parents[1])], check=True, env=environment)
    for number in range(5):
        saved = {(tmp_path / f"{hash_seed}-{number}.json").read_bytes() for hash_seed in range(5)}
        assert len(saved) == 1, f"task {number}"


class Elsewhere:
    """A cluster without machines: all that is sent and comes back is bytes, and nobody there knows what runs here."""

    killed: tuple[type[BaseException], ...] = ()
    size = 2

    def __init__(self) -> None:
        self.done = 0

    def put(self, value: Any) -> bytes:
        return pickle.dumps(value)

    def run(self, place: bytes, batches: Sequence[Batch], shared: bytes | None = None) -> Iterator[Done]:
        for batch in batches:
            common = None if shared is None else pickle.loads(shared)
            sent = pickle.loads(pickle.dumps(batch))
            found = Context().run(work, pickle.loads(place), sent, common)
            self.done += len(found)
            yield from pickle.loads(pickle.dumps(found))

    def close(self) -> None:
        pass


@pytest.mark.parametrize("name", ["choices", "plans", "plans, sampled", "svm"])
def test_what_a_cluster_does_comes_back_with_its_rounds_and_is_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, options = CASES[name]
    elsewhere, kept = Elsewhere(), list[str]()
    keep = KeptRounds.keep

    def counted(self: KeptRounds, name: str, value: dict[str, Any]) -> None:
        kept.append(name)
        keep(self, name, value)

    monkeypatch.setattr(Workers, "_started", lambda self: elsewhere)
    monkeypatch.setattr(KeptRounds, "keep", counted)
    monkeypatch.setattr(Checkpoint, "remove", lambda self: None)
    learn(made(), checkpoint=tmp_path / "alone", **options).save(tmp_path / "alone.json")
    alone, already = sorted(kept), elsewhere.done
    kept.clear()
    learn(made(), backend="dask", checkpoint=tmp_path / "there", **options).save(tmp_path / "there.json")
    assert already == 0 < elsewhere.done and sorted(kept) == alone
    kept.clear()
    learn(made(), backend="dask", checkpoint=tmp_path / "there", **options).save(tmp_path / "again.json")
    assert kept == [], "no round is done twice"
    assert len({(tmp_path / f"{each}.json").read_bytes() for each in ("alone", "there", "again")}) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")
def test_a_worker_that_is_killed_is_replaced_and_the_bytes_are_the_same(tmp_path: Path) -> None:
    episodes, options = paper_demonstrations("enforced"), {"objective": "plans", "committee": 6, "seed": 2}
    killed: list[int] = []

    def kill_one(info: dict[str, Any]) -> None:
        if not killed and (there := workers_of(os.getpid())):
            killed.append(there[0])
            os.kill(killed[0], signal.SIGKILL)

    learn(episodes, jobs=2, progress=kill_one, **options).save(tmp_path / "two.json")
    learn(episodes, **options).save(tmp_path / "one.json")
    assert killed and (tmp_path / "two.json").read_bytes() == (tmp_path / "one.json").read_bytes()


def workers_of(parent: int) -> list[int]:
    """The processes of loky that this one has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            mine = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent
            if mine and "popen_loky" in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found
