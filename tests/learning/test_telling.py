"""What learning tells on the way: what is wanted, in which order, what is never done, and how well that foresees."""

from __future__ import annotations

from typing import Any

from meip import Episode, learn, record
from meip.worlds.ritual import Ritual


def told(counts: tuple[int, ...]) -> list[dict[str, Any]]:
    world = Ritual(objects=4)
    shown = [Episode(world, record(world, [(1, "torch", 4), (2, "bamboo", n), (3, "clay", 2)])) for n in counts]
    infos: list[dict[str, Any]] = []
    task = learn(shown, progress=infos.append)
    return [*infos, {"stage": "end", "task": task}]


def test_learning_tells_what_it_has_found_as_it_finds_it() -> None:
    *infos, end = told((1, 2, 3, 4))
    stages = list(dict.fromkeys(info["stage"] for info in infos))
    wanted = ["candidates", "price", "members", "rules", "order", "told"]
    assert [stage for stage in stages if stage in wanted] == wanted
    statements = end["task"].preferences.statements
    last = infos[-1]
    assert [text for text, _ in last["wanted"]] == [str(s.concept) for s in statements if s.kind == "wanted"]
    order = next(info for info in infos if info["stage"] == "order")["order"]
    assert ["all(torch@1)", "some(bamboo@2)"] in order
    assert last["foreseen"] == end["task"].preferences.foreseen
    assert last["choices"] == end["task"].preferences.choices


def test_the_objective_is_told_from_chance_to_the_statements() -> None:
    *infos, _ = told((1, 2, 3, 4))
    curve = [info["objective"] for info in infos if "objective" in info]
    told_alone = [info["objective"] for info in infos if info["stage"] == "told"]
    assert curve[0] == min(curve), "everything is better than chance"
    assert told_alone == sorted(told_alone), "each statement explains more"
    prices = [info for info in infos if info["stage"] == "price" and "objective" in info]
    assert len(prices) >= 2 and all(info["wanted"] for info in prices[1:])
