"""Kill and resume: every objective, killed with SIGKILL at random rounds, again and again, ends with the same bytes.

Each attempt is a process of its own that goes on from the checkpoint of the one before, and is killed at a round drawn
at random: before the round is written, after that, or while half of it is. The last one finishes.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from attack.signals import DEMOS
from meip import Grammar, LearnOptions, learn, load_problem
from meip.experiments.probability_shift import demonstrations
from meip.experiments.rites import Rite, Want, demonstrate, paper_demonstrations, random_rite
from meip.learning import checkpoint
from meip.model.demonstrations import Episode, record
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import plan_demonstration, solve

__all__ = ["CASES", "resumes", "resumes_of", "whole_of", "with_workers"]

GIVEN = ("all(torch@1)", "some(bamboo@2)", "count(clay@3) = 4")
MOMENTS = ("before", "half", "after")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
KILLS = 4  # in a row, before a run may finish
PATIENT = 3600.0  # seconds: how a plan is found must not depend on how busy the machine is


def _rituals() -> list[Episode]:
    return paper_demonstrations("free")


def _short() -> list[Episode]:
    rite = Rite((Want("torch", "all"), Want("bamboo", "exactly", 2)), ("torch", "bamboo"))
    return demonstrate(rite, "free", np.random.default_rng(1), 5, 3)


def _sampled() -> list[Episode]:
    """So many plans that they are sampled."""
    rng = np.random.default_rng(0)
    return demonstrate(random_rite(rng, 4, 4), "free", rng)


def _one_wrong() -> list[Episode]:
    rng = np.random.default_rng(3)
    return demonstrate(random_rite(rng, 3, 3), "free", rng, count=6, wrong=1)


def _chancy() -> list[Episode]:
    return demonstrations(5, np.random.default_rng(0))


def _deep() -> list[Episode]:
    """What level 1 of the grammar does not explain."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from examples.packing import Packing

    bags = (("heavy", "heavy", "fragile", "plain", "bottle"), ("heavy", "fragile", "fragile", "plain", "bottle"))
    orders = ([1, 0, 3, 2, 4], [0, 2, 1, 3, 4])
    worlds = [Packing(bag) for bag in bags]
    return [Episode(world, record(world, order)) for world, order in zip(worlds, orders, strict=True)]


def _ferry() -> list[Episode]:
    worlds = [PddlWorld("ferry", generate={"cars": 2, "landings": 3}, seed=seed) for seed in range(4)]
    return [Episode(world, plan_demonstration(world, solve(world, PATIENT)[0])) for world in worlds]


def _folding() -> list[Episode]:
    return [Episode(load_problem(one.problem), one) for one in bundled()[:3]]


CASES: dict[str, tuple[Callable[[], list[Episode]], dict[str, Any]]] = {
    "choices": (_rituals, {}),
    "choices, one set aside": (_one_wrong, {"tolerance": 0.2}),
    "choices, given": (_rituals, {"objective": "choices", "concepts": GIVEN}),
    "choices, PDDL": (_ferry, {}),
    "choices, folding": (_folding, {}),
    "choices, chance": (_chancy, {}),
    "plans": (_rituals, {"objective": "plans"}),
    "plans, three members": (_rituals, {"objective": "plans", "committee": 3}),
    "plans, sampled": (_sampled, {"objective": "plans"}),
    "plans, one set aside": (_one_wrong, {"objective": "plans", "tolerance": 0.2}),
    "plans, chance": (_chancy, {"objective": "plans"}),
    "plans, level 2": (_deep, {"objective": "plans", "grammar": Grammar.paper(2)}),
    "plans, literal": (_short, {"objective": "plans", "pursuit": "literal", "grammar": Grammar.paper(2)}),
    "plans, given": (_sampled, {"objective": "plans", "concepts": ("all(clay@1)", "some(clay@2)")}),
    "history": (_rituals, {"objective": "history"}),
    "history, two members": (_sampled, {"objective": "history", "committee": 2}),
    "history, PDDL": (_ferry, {"objective": "history"}),
    "svm": (_rituals, {"objective": "svm"}),
    "svm, given": (_rituals, {"objective": "svm", "concepts": GIVEN}),
    "svm-literal": (_rituals, {"objective": "svm-literal"}),
    "the paper's": (_rituals, {"options": LearnOptions.paper()}),
    "the paper's, given": (_rituals, {"options": LearnOptions.paper(concepts=GIVEN)}),
}


def resumes(folder: Path, attempts: int) -> Tally:
    """As many processes that go on from a killed one as there are attempts, the cases in turn; and with workers."""
    tally, rng = Tally("resumes at random rounds"), random.Random(0)
    whole = {name: whole_of(folder, name) for name in CASES}
    while tally.attempts < attempts:
        for name in CASES:
            resumes_of(folder, name, whole[name], rng, tally)
            if tally.attempts >= attempts:
                break
    for number in range(max(1, attempts // 30)):
        with_workers(folder, 0.5 + 4 * rng.random(), tally, SIGNALS[number % len(SIGNALS)])
    return tally


def whole_of(folder: Path, name: str) -> tuple[bytes, int]:
    """What is learned without a kill, and how many rounds there are; here, so that others find all of it compiled."""
    made, options = CASES[name]
    learn(made(), **options).save(folder / "task.json")
    found = (folder / "task.json").read_bytes()
    assert _saved(folder, name, folder / "first", None) == found, f"{name}: other bytes with a checkpoint"
    return found, int((folder / "rounds").read_text())


def resumes_of(
    folder: Path, name: str, expected: tuple[bytes, int], rng: random.Random, tally: Tally, kills: int = KILLS
) -> None:
    """Kill a run some times in a row, and let it finish: each process after the first is an attempt."""
    kept = Path(tempfile.mkdtemp(dir=folder)) / "kept"
    whole, rounds = expected
    for number in range(kills + 1):
        after = None if number == kills else (rng.randint(1, max(1, 2 * rounds // (kills + 1))), rng.choice(MOMENTS))
        if number == 0:
            finished = _saved(folder, name, kept, after)
            if finished:
                return  # fewer rounds than that: nothing to go on from
            continue
        with tally.attempt(f"{name}, kill {number}, then {after}", 600):
            finished = _saved(folder, name, kept, after)
            assert not finished or finished == whole, "other bytes than without a kill"
            assert after is not None or finished, "it did not finish"
        if finished:
            return


def _saved(folder: Path, name: str, kept: Path | None, after: tuple[int, str] | None) -> bytes:
    """What a process of its own learned; nothing where it was killed."""
    output = folder / "task.json"
    output.unlink(missing_ok=True)
    process = multiprocessing.get_context("fork").Process(target=_learn, args=(name, kept, after, output))
    process.start()
    process.join()
    expected = (0,) if after is None else (0, -signal.SIGKILL)
    assert process.exitcode in expected, f"{name}: exit code {process.exitcode}"
    assert output.exists() == (process.exitcode == 0)
    return output.read_bytes() if output.exists() else b""


def _learn(name: str, kept: Path | None, after: tuple[int, str] | None, output: Path) -> None:
    """In the process that may be killed: after so many new rounds, at this moment."""
    made, options = CASES[name]
    done = 0
    write = checkpoint.KeptRounds.keep

    def keep(self: checkpoint.KeptRounds, name: str, value: Any) -> None:
        nonlocal done
        assert name not in self.known, f"{name} was known, and is done again"
        done += 1
        if after is None or done < after[0]:
            write(self, name, value)
        elif after[1] == "before":
            _die()
        elif after[1] == "after":
            write(self, name, value)
            self.write()
            _die()
        else:
            write(self, name, value)
            self.write()
            with open(self.file, "r+b") as file:  # as an append leaves it that was killed half-way
                last = file.read().rstrip(b"\n").rfind(b"\n") + 1
                size = os.fstat(file.fileno()).st_size
                file.truncate(last + (size - last) // 2)
                file.seek(last)
                file.write(b"\0")
            _die()

    checkpoint.KeptRounds.keep = keep  # type: ignore[method-assign]
    checkpoint.EVERY = random.Random(str(after)).choice((0.0, 0.02, 0.1))
    how = {} if kept is None else {"checkpoint": kept}
    learn(made(), **options, **how).save(output)
    (output.parent / "rounds").write_text(str(done))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def with_workers(folder: Path, moment: float, tally: Tally, number: int = signal.SIGKILL) -> None:
    """On the command line, with two workers: the whole group is ended at some moment, and the command given again."""
    place = Path(tempfile.mkdtemp(dir=folder))
    command = [sys.executable, "-m", "meip", "learn", DEMOS, "--objective", "plans", "--committee", "4"]
    again = [*command, "--jobs", "2", "--checkpoint", str(place / "kept"), "-o", str(place / "task.json")]
    process = subprocess.Popen(again, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(moment)
    os.killpg(process.pid, number)
    process.wait()
    with tally.attempt(f"two workers, {signal.Signals(number).name} after {moment:.2f} s", 600):
        subprocess.run(again, check=True, capture_output=True)
        subprocess.run([*command, "-o", str(place / "whole.json")], check=True, capture_output=True)
        assert (place / "task.json").read_bytes() == (place / "whole.json").read_bytes(), "other bytes"
