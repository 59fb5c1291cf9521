"""Reports: pages that load nothing, drawings with titles, text that a terminal without Unicode can show."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from meip import Episode, Picture, Task, learn, record
from meip.base.errors import MeipError
from meip.concepts.parser import parse_concept
from meip.experiments.rites import paper_demonstrations
from meip.report.plan_page import plan_page
from meip.report.svg import sheet_svg
from meip.report.text import explanation_text, plan_text, why_text
from meip.report.whole import Report, report_page
from meip.tasks.explain import layers, reduced
from meip.tasks.task import Provenance
from meip.utility.terms import Utility, UtilityTerm
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Checker(HTMLParser):
    """Every tag is closed, and nothing is loaded or run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.drawings = self.titles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "link", "img", "iframe", "object"}
        for name, value in attrs:
            assert name not in {"src", "href", "xlink:href"} and not name.startswith("on"), (tag, name)
            assert "//" not in (value or "")
        if tag not in VOID:
            self.open.append(tag)
        self.drawings += tag == "svg"
        self.titles += tag == "title" and "svg" in self.open[-2:]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def committee() -> Task:
    return learn(paper_demonstrations("enforced"), objective="plans", committee=3)


def checked(page: str) -> Checker:
    found = Checker()
    found.feed(page)
    assert found.open == []
    assert not re.search(r"https?:|url\((?!#)|@import", page)
    return found


def test_the_page_loads_nothing_and_every_drawing_has_a_title(committee: Task) -> None:
    found = checked(report_page(Report.of(committee.explain())))
    assert found.drawings == found.titles == len(committee.explain().wishes) + 1


def test_names_from_files_cannot_break_out_of_the_page(committee: Task) -> None:
    page = report_page(Report.of(committee.with_note("<script>alert(1)</script>").explain()))
    checked(page)
    assert "&lt;script&gt;" in page


def test_a_plan_becomes_a_page(committee: Task) -> None:
    world = Ritual(order="free", objects=6)
    page = plan_page(committee.plan(world, method="beam"), world)
    found = checked(page)
    assert "stage 1: 6 torch" in page and found.drawings == found.titles == 4


def test_plans_with_chance_can_be_shown_again() -> None:
    world = Didactic(p=0.1, horizon=3)
    task = learn([Episode(world, record(world, ["a1", "a1"], [0, None]))])
    plan = task.plan(world)
    assert [step.probability for step in plan.steps] == [0.9, 1.0]
    assert plan.goal is True
    page = plan_page(plan, world)
    checked(page)
    assert "with probability 0.9" in page and "goal is reached" in page


def test_a_terminal_without_unicode_shows_everything(committee: Task) -> None:
    buffer = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=buffer, width=80)
    found = committee.explain()
    for part in (explanation_text(found), why_text(found), plan_text(committee.plan(Ritual(), method="beam"))):
        console.print(part)
    buffer.flush()
    shown = buffer.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert "torch" in shown


def test_the_order_is_drawn_without_what_follows_from_the_rest(committee: Task) -> None:
    order = [edge for edge in committee.order if edge.confidence == 1.0]
    assert len(order) == 3 and len(reduced(order)) == 2
    assert [[str(c) for c in layer] for layer in layers(order)] == [
        ["all(torch@1)"],
        ["some(bamboo@2)"],
        ["count(clay@3) = 4"],
    ]


def test_a_plan_of_folds_is_drawn_cloth_by_cloth_with_what_each_fold_is(tmp_path: Path) -> None:
    from meip.report.plan_page import write_plan
    from meip.worlds.folding.garments import garment
    from meip.worlds.folding.world import Folding

    world = Folding(garment("tshirt"), 3, candidates=3)
    term = UtilityTerm(parse_concept("max(extent)"), "real", (0.1, 1.0), (1.0, 0.0))
    task = Task(world.domain, (Utility((term,)),), 1.0, Provenance("0", 0, "plans", "plans", {}, 0, "", 3, False))
    plan = task.plan(world)
    page = plan_page(plan, world, "Folds")
    checked(page)
    assert [f"<h3>{name}</h3>" in page for name in ("flat", "fold 1", "fold 2", "other side")] == [True] * 4
    assert page.count(" side moves. In cm: crease from (") == 2
    assert [sorted(step.how or {}) for step in plan.steps] == [["centimetres", "crease", "grasp", "moves", "place"]] * 2
    assert page.count('class="card wide"') == 2  # before and after beside each other
    ids = re.findall(r'clipPath id="(\w+)"', page)
    assert len(ids) == len(set(ids)) > 0
    write_plan(tmp_path / "plan.png", plan, world)
    write_plan(tmp_path / "plan.svg", plan, world)
    assert (tmp_path / "plan.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(MeipError, match="draws no pictures"):
        write_plan(tmp_path / "didactic.png", plan, Didactic())


LIGHTS = """
from dataclasses import dataclass
from meip import Domain, EntityClass, Facts, Picture, World, predicate

@dataclass(frozen=True)
class Lights(World):
    number: int = 3
    domain = Domain("lights", (EntityClass("light"),), (predicate("on", "light"),))
    @property
    def horizon(self): return self.number + 1
    def initial(self): return [(1.0, 0)]
    def actions(self, state): return ["next"] if state < self.number else []
    def outcomes(self, state, action): return [(1.0, state + 1)]
    def facts(self, state): return Facts.build(self.domain, {"light": self.number}, {"on": range(state)})
    def draw(self, states, actions):
        circles = [f"<circle cx='{20 * n + 10}' cy='10' r='8'/>" for n in range(self.number)]
        head = f"<svg viewBox='0 0 {20 * self.number} 20' fill='teal'><title>lights</title>"
        return [Picture(f"{n} & more", head + "".join(circles[:n]) + "</svg>") for n in states]
"""


def test_a_world_of_ones_own_that_only_draws_is_shown_as_a_page_and_as_one_drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from meip.cli import main
    from meip.model.problems import resolve_world

    (tmp_path / "lights.py").write_text(LIGHTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    world = resolve_world("lights:Lights")
    learn([Episode(world, record(world, ["next"] * 3))]).save("task.json")
    codes = {}
    for name in ("plan.html", "plan.svg", "plan.png"):
        with pytest.raises(SystemExit) as caught:
            main(["plan", "task.json", "lights:Lights", "--render", name])
        codes[name] = int(caught.value.code or 0)
    assert codes == {"plan.html": 0, "plan.svg": 0, "plan.png": 2}
    assert "error: plan.png: plans in this world are drawn as .svg, or on a page: .html" in capsys.readouterr().err
    assert not Path("plan.png").exists()
    page = Path("plan.html").read_text()
    assert checked(page).drawings == 4 and "<h3>3 &amp; more</h3>" in page
    sheet = ElementTree.parse("plan.svg").getroot()
    drawings = sheet.findall("{http://www.w3.org/2000/svg}svg")
    assert [len(drawing) for drawing in drawings] == [1, 2, 3, 4]  # the title and the lights that are on
    assert {drawing.get("fill") for drawing in drawings} == {"teal"}


@pytest.mark.parametrize(
    ("head", "view"),
    [
        ("<svg viewBox='-5 0 40 20'>", "-5 0 40 20"),
        ('<?xml version="1.0"?><svg width="40px" height="20px">', "0 0 40 20"),
        ("<svg>", "0 0 220 220"),
        ('<svg viewBox="0 0 0 9">', "0 0 220 220"),
        ('<svg viewBox="a b">', "0 0 220 220"),
    ],
)
def test_a_drawing_of_any_size_is_scaled_into_its_cell(head: str, view: str) -> None:
    sheet = ElementTree.fromstring(sheet_svg([Picture("x" * 99, head + "<g/></svg>"), Picture("", "")], "<&>"))
    (inside,) = sheet.findall("{http://www.w3.org/2000/svg}svg")
    assert inside.get("viewBox") == view and inside.get("width") == "220"
    texts = [text.text or "" for text in sheet.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "<&>" and texts[1].endswith("x…") and len(texts[1]) < 40
