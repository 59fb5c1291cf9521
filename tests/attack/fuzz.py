"""Mutants of everything that is read: only clear errors, quickly, and in little memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from attack.mutants import VALID, damaged, mutate
from meip import MeipError, parse_concept
from meip.base import documents
from meip.base.files import load_json
from meip.base.parallel import within
from meip.base.text import printable
from meip.model.graph import state_graph
from meip.model.problems import load_problem, problem_document
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cvat import import_cvat
from meip.worlds.folding.fold_format import fold_of_cloth, fold_of_garment, read_fold
from meip.worlds.folding.garments import garment
from meip.worlds.folding.parse_graph import parse_image, to_garment
from meip.worlds.folding.render import render_image
from meip.worlds.folding.world import Folding
from meip.worlds.pddl.generators import generate
from meip.worlds.pddl.plans import read_plan
from meip.worlds.pddl.world import load_domain, read_problem
from meip.worlds.pddl.writer import domain_text

__all__ = ["PARSERS", "mutants"]

SECONDS = 5.0  # for one mutant, at most
POINTS = {
    "waist_left": (100, 500), "waist_right": (300, 500), "armpit_right": (300, 260), "sleeve_right_bottom": (360, 280),
    "sleeve_right_top": (380, 200), "shoulder_right": (290, 140), "neck_right": (240, 120), "neck_left": (160, 120),
    "shoulder_left": (110, 140), "sleeve_left_top": (20, 200), "sleeve_left_bottom": (40, 280),
    "armpit_left": (100, 260),
}  # fmt: skip
CONCEPTS = (
    "all(torch@1) and not some(bamboo@2)", "max(f | p)", "count(clay@2) = 3", "some(closure(on and on_goal))",
    "mean(length | sleeve) - max(width | body)", "count({x: on(x, y) or not clear(x)}) >= 2",
)  # fmt: skip


def _cvat() -> str:
    ring = ";".join(f"{x},{y}" for x, y in POINTS.values())
    marks = "".join(f'<points label="tshirt.{name}" points="{x},{y}"/>' for name, (x, y) in POINTS.items())
    image = f'<image id="0" name="a/one.png"><polygon label="tshirt.mask" points="{ring}"></polygon>{marks}</image>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n{image}\n{image}</annotations>'


def _fold() -> list[str]:
    world = Folding(garment("tshirt"), 3)
    graph = state_graph(world)
    folded = graph.states[graph.successors(int(graph.initial[0]))[0]]
    return [json.dumps(fold_of_garment(garment("tshirt"))), json.dumps(fold_of_cloth(folded))]


def _picture() -> bytes:
    image = render_image(garment("tshirt"))
    cv2 = load_cv2()
    small = cv2.resize(image, None, fx=0.3, fy=0.3)
    return bytes(cv2.imencode(".png", small)[1].tobytes())


class _Files:
    """Files that are read by their paths."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.domain = folder / "domain.pddl"
        self.domain.write_text(domain_text(load_domain("ferry")))
        self.problem = folder / "p.pddl"
        self.problem.write_text(generate("ferry", 1, cars=2))
        self.files = load_domain(self.domain), read_problem(self.problem, self.domain).instance.problem
        self.cvat, self.fold, self.picture = _cvat(), _fold(), _picture()
        self.problems = [
            *VALID["problem"], problem_document(Folding(garment("tshirt"), 3)),
            problem_document(read_problem(self.problem, self.domain)),
        ]  # fmt: skip
        for problem in self.problems:  # compiled now: that is not the mutants' time
            self.look(problem)

    def put(self, name: str, text: str | bytes) -> Path:
        file = self.folder / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return file

    def document(self, rng: random.Random) -> Any:
        kind = rng.choice(sorted(set(VALID) - {"problem"}))
        text = mutate(rng.choice(VALID[kind]), rng)
        return documents.parse(load_json(text, "file.json"), kind, where="file.json")

    def world(self, rng: random.Random) -> Any:
        """A problem document, and a first look at the world that it describes."""
        return self.look(load_json(mutate(rng.choice(self.problems), rng), "file.json"))

    def look(self, problem: Any) -> Any:
        graph = state_graph(load_problem(problem, where="file.json"))
        return graph.horizon, graph.action_numbers(int(graph.initial[0])), graph.facts(graph.initial)

    def concept(self, rng: random.Random) -> Any:
        return parse_concept(damaged(rng.choice(CONCEPTS), rng))

    def pddl_domain(self, rng: random.Random) -> Any:
        file = self.put("bad.pddl", damaged(self.domain.read_text(), rng))
        return state_graph(read_problem(self.problem, file)).action_numbers(0)

    def pddl_problem(self, rng: random.Random) -> Any:
        file = self.put("bad.pddl", damaged(self.problem.read_text(), rng))
        return state_graph(read_problem(file, self.domain)).action_numbers(0)

    def plan(self, rng: random.Random) -> Any:
        text = "(sail l0 l1)\n(board c0 l1)\n; cost = 2 (unit cost)\n(debark c0 l1)\n"
        return read_plan(self.put("bad.plan", damaged(text, rng)), *self.files)

    def cvat_file(self, rng: random.Random) -> Any:
        return import_cvat(self.put("bad.xml", damaged(self.cvat, rng)), outline=rng.choice(["keypoints", "mask"]))

    def fold_file(self, rng: random.Random) -> Any:
        text = rng.choice(self.fold)
        changed = damaged(text, rng) if rng.random() < 0.5 else mutate(json.loads(text), rng)
        return read_fold(self.put("bad.fold", changed))

    def image(self, rng: random.Random) -> Any:
        data = bytearray(self.picture)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            if rng.random() < 0.2:
                del data[at : at + rng.choice([1, 100, 10**6])]
            data[min(at, len(data) - 1) if data else 0 : at + 1] = bytes([rng.randrange(256)])
        if rng.random() < 0.5:  # a picture that can be read and shows something strange
            shape = rng.choice([(1, 1), (2, 300), (60, 60), (60, 60, 3), (60, 60, 4)])
            strange = np.random.default_rng(rng.randrange(10**6)).integers(0, 255, shape, dtype=np.uint8)
            data = bytearray(load_cv2().imencode(".png", strange)[1].tobytes())
        return to_garment(parse_image(self.put("bad.png", bytes(data))))


PARSERS: dict[str, Callable[[_Files, random.Random], Any]] = {
    "documents": _Files.document,
    "problems": _Files.world,
    "concepts": _Files.concept,
    "pddl-domains": _Files.pddl_domain,
    "pddl-problems": _Files.pddl_problem,
    "plans": _Files.plan,
    "cvat": _Files.cvat_file,
    "fold": _Files.fold_file,
    "images": _Files.image,
}


def mutants(parser: str) -> Callable[[Path, int], Tally]:
    """The attack on one parser."""

    def attack(folder: Path, attempts: int) -> Tally:
        files, tally = _Files(folder), Tally(f"mutants of {parser}")
        for number in range(attempts):
            rng = random.Random(f"{parser} {number}")
            with tally.attempt(f"mutant {number}", SECONDS):
                try:
                    within(SECONDS, lambda rng=rng: PARSERS[parser](files, rng))
                except MeipError as error:
                    message = str(error)
                    assert "s of computing" not in message, message
                    message.encode()
                    assert len(message) < 1500, message
                    assert printable(message) == message, repr(message)
        return tally

    return attack
