"""The folding world: a garment on a table, and a number of folds.

States are cloths; an action is a folding segment (x, y, r, theta). There are too many to list, so `actions` gives
those that the proposal brings up (always the same for the same state and seed), while any segment can be decoded and
tried. Actions with the same result are one.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal
from zlib import crc32

import numpy as np

from meip.base import documents
from meip.base.errors import WorldError, did_you_mean
from meip.model.demonstrations import Demonstration, Plan, replay
from meip.model.domain import Domain, FactBlock, Facts
from meip.model.scenes import Line, Scene, Stroke
from meip.model.world import Picture, World
from meip.worlds.folding.carry_out import instruction, likely_centimetre, sentences
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.fluents import DOMAIN, fact_blocks
from meip.worlds.folding.folds import Fold, fold, pile
from meip.worlds.folding.garments import garment
from meip.worlds.folding.paper_fluents import PAPER, paper_blocks
from meip.worlds.folding.proposal import Proposal, Proposed, find_folds, learn_proposal
from meip.worlds.folding.sketch import line_of, scene, stroke

__all__ = ["Folding", "proposal_from"]

FLUENTS = {"extended": DOMAIN, "paper": PAPER}
REMEMBERED = 2048  # states whose folds are kept at hand, those used last
ALTERNATIVES = 60  # folds that stand beside each demonstrated one, when learning ..
MOST_CANDIDATES = 10_000
WILD = 0.4  # .. and the share of them that are from the uniform grid


@dataclass(frozen=True)
class Folding(World):
    """Fold this garment up to horizon - 1 times; to stop earlier is a choice like any other."""

    kind: ClassVar[str] = "folding"

    garment: Garment = field(default_factory=lambda: garment("tshirt"))
    """In problem documents also the name of a template."""
    horizon: int = 6
    proposal: Proposal = field(default_factory=Proposal)
    candidates: int = 40
    """How many folds are considered in a state."""
    seed: int = 0
    fluents: Literal["extended", "paper"] = field(default="extended", metadata={"omit_default": True})
    """What can be said about a cloth: ours, which carry over to other garments, or the ten of the paper's table."""

    def __post_init__(self) -> None:
        if self.horizon < 2:
            raise WorldError(f"the horizon counts states: at least 2, got {self.horizon}")
        if self.candidates < 1:
            raise WorldError(f"candidates must be at least 1, got {self.candidates}")
        if self.candidates > MOST_CANDIDATES:
            raise WorldError(f"candidates may be {MOST_CANDIDATES:,} at most")
        if self.seed < 0:
            raise WorldError(f"a seed is not negative, got {self.seed}")
        if self.fluents not in FLUENTS:
            raise WorldError(f"no fluents are called {self.fluents!r}; {did_you_mean(self.fluents, FLUENTS)}")
        object.__setattr__(self, "_flat", Cloth.flat(self.garment))
        object.__setattr__(self, "_near", OrderedDict())
        object.__setattr__(self, "_centimetre", likely_centimetre(self.garment))

    @classmethod
    def spelled_out(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a problem document with a garment's template instead of its name."""
        named = fields.get("garment")
        return {**fields, "garment": documents.to_json(garment(named))} if isinstance(named, str) else dict(fields)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the remembered folds: another process makes the same ones."""
        return type(self), (self.garment, self.horizon, self.proposal, self.candidates, self.seed, self.fluents)

    @property
    def domain(self) -> Domain:
        return FLUENTS[self.fluents]

    def initial(self) -> Sequence[tuple[float, Cloth]]:
        flat: Cloth = self._flat  # type: ignore[attr-defined]
        return [(1.0, flat)]

    def actions(self, state: Cloth) -> Sequence[Fold]:
        """The folds that the proposal brings up here, with different results."""
        ((moves, _),) = self.first_moves([state], [self.candidates])
        return [action for action, _ in moves]

    def first_moves(
        self, states: Sequence[Cloth], counts: Sequence[int]
    ) -> list[tuple[list[tuple[Fold, Cloth]], bool]]:
        """The first folds of each state with their results, and whether these are all. Nothing else is folded."""
        counts = [min(n, self.candidates) for n in counts]
        lists = [self._list(state) for state in states]
        find_folds(self.proposal, lists, counts, self.candidates)
        return [(one.list(n), n >= self.candidates or len(one.folds) < n) for one, n in zip(lists, counts, strict=True)]

    @property
    def most_moves(self) -> int:
        return self.candidates

    def outcomes(self, state: Cloth, action: Fold) -> Sequence[tuple[float, Cloth]]:
        known = self._known().get(state)
        for after, made in known.folds.items() if known is not None else ():
            if made == action:
                return [(1.0, after)]
        return [(1.0, fold(state, action))]

    def facts(self, state: Cloth) -> Facts:
        (block,) = self.facts_batch([state])
        return Facts(block.counts, {name: table[0] for name, table in block.tables.items()})

    def facts_batch(self, states: Sequence[Cloth]) -> list[FactBlock]:
        if self.fluents == "paper":
            return paper_blocks(states, self.garment.logo)
        unit: float = self._centimetre  # type: ignore[attr-defined]
        return fact_blocks(pile(states), centimetre=unit) if states else []

    def decode_action(self, value: Any) -> Fold:
        """Any four finite numbers (x, y, r, theta) with r > 0."""
        numbers = value if isinstance(value, list | tuple) else ()
        plain = [v for v in numbers if isinstance(v, int | float) and not isinstance(v, bool) and np.isfinite(v)]
        if len(plain) != 4 or len(numbers) != 4 or plain[2] <= 0:
            raise WorldError(f"expected a folding segment [x, y, r, theta] of finite numbers with r > 0, got {value!r}")
        x, y, r, theta = (float(v) for v in plain)
        return x, y, r, theta

    def learn_proposal(self, plans: Sequence[Plan]) -> dict[str, Any]:
        """Near which folds to look: those of these plans, wherever they would be on another cloth."""
        return documents.dump(learn_proposal((plan.states, plan.actions) for plan in plans))

    def with_proposal(self, proposal: Mapping[str, Any], *, alternatives: bool = False, seed: int = 0) -> Folding:
        """With the folds of a learned proposal, unless the problem has one of its own.

        `alternatives`: more of them, many from the uniform grid.
        """
        given: Proposal = documents.parse(proposal, "proposal", where="proposal")
        if alternatives:
            wild = replace(given, uniform=WILD)
            return replace(self, proposal=wild, candidates=max(self.candidates, ALTERNATIVES), seed=seed)
        return self if self.proposal.box else replace(self, proposal=given)

    def instructions(self, states: Sequence[Cloth], actions: Sequence[Fold]) -> list[dict[str, Any]]:
        """For each fold the crease, the side that moves, where to grasp it and where to lay it down."""
        return [
            instruction(self.garment, before, action, after)
            for before, action, after in zip(states, actions, states[1:], strict=False)
        ]

    def made_of(self) -> list[str]:
        """Body, sleeve, hood: the names of its parts, left and right alike."""
        return [part.name.removesuffix("_left").removesuffix("_right") for part in self.garment.parts]

    def action_parts(self, action: Fold) -> Sequence[tuple[str, str]]:
        x, y, _, theta = action
        return [("action", "fold"), ("where", f"at ({x:.1f}, {y:.1f})"), ("angle", f"{math.degrees(theta) % 180:.0f}°")]

    def scene(self, states: Sequence[Cloth], actions: Sequence[Fold]) -> Scene:
        """The cloth as it lies after these folds, to draw the next one over it."""
        return scene(self.garment, states, actions)

    def stroke(self, state: Cloth, line: Line) -> Stroke:
        """What a drawn line would fold, or why it would not."""
        return stroke(state, line)

    def line_of(self, action: Fold) -> Line:
        return line_of(action)

    def draw(self, states: Sequence[Cloth], actions: Sequence[Fold]) -> list[Picture]:
        """The flat cloth, every fold before and after with its own numbers, and the other side in the end."""
        from meip.worlds.folding.canvas import to_svg
        from meip.worlds.folding.render import frame_pictures

        row = self._row(states, actions)
        told = [sentences(self.garment, *fold) for fold in zip(states, actions, states[1:], strict=False)]
        notes = ["", *told, ""]
        return [
            Picture(caption, to_svg(canvas), note)
            for (caption, canvas), note in zip(frame_pictures(row), notes, strict=True)
        ]

    def paint(self, path: str | Path, states: Sequence[Cloth], actions: Sequence[Fold], title: str) -> None:
        """The plan as a contact sheet: .svg or .png."""
        from meip.worlds.folding.canvas import write_canvas
        from meip.worlds.folding.render import contact_sheet

        write_canvas(path, contact_sheet([self._row(states, actions)], title=title, numbers=True))

    def _row(self, states: Sequence[Cloth], actions: Sequence[Fold]) -> Any:
        from meip.worlds.folding.render import plan_row

        return plan_row(self.garment.name, list(states), folds=list(actions), garment=self.garment)

    def describe(self, state: Cloth) -> str:
        x0, y0, x1, y1 = state.bounds
        return f"{self.garment.name} in {len(state)} layers, {x1 - x0:.3g} wide and {y1 - y0:.3g} high"

    def _known(self) -> OrderedDict[Cloth, Proposed]:
        return self._near  # type: ignore[attr-defined, no-any-return]

    def _list(self, state: Cloth) -> Proposed:
        """The list of a state's folds, remembered for the questions that follow."""
        known = self._known()
        found = known.get(state)
        if found is None:
            seed = int(np.random.SeedSequence([self.seed, crc32(state.key)]).generate_state(1, np.uint64)[0])
            found = known[state] = Proposed(state, seed)
            if len(known) > REMEMBERED:
                known.popitem(last=False)
        else:
            known.move_to_end(state)
        return found


def proposal_from(
    demonstrations: Iterable[Demonstration], *, frame: Literal["polygon", "cloth"] = "polygon", **options: float
) -> Proposal:
    """The proposal learned from demonstrations of any garments."""
    from meip.model.problems import load_problem

    plans = [replay(load_problem(one.problem), one, where=f"demonstration {i}") for i, one in enumerate(demonstrations)]
    return learn_proposal(((plan.states, plan.actions) for plan in plans), frame=frame, **options)
