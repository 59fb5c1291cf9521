"""A scripted demonstrator: hood, sleeves, then in half, with a person's noise. What is small is not halved.

It stands in for people until they have recorded their own folds in the studio, and says so in every demonstration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from meip.base.errors import WorldError
from meip.model.demonstrations import Demonstration, read_demonstrations, record
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.folds import Fold, fold
from meip.worlds.folding.garments import random_garment, scaled, tailored
from meip.worlds.folding.referee import Referee
from meip.worlds.folding.world import Folding

__all__ = [
    "BUNDLED",
    "SHOWN",
    "bundled",
    "demonstrate",
    "random_demonstrations",
    "random_kind",
    "script",
    "script_orders",
    "scripted_folds",
    "template_of",
]

BUNDLED = Path(__file__).with_name("demonstrations.jsonl")
BY = "scripted demonstrator"
NOTE = "Scripted: computed folds with human-like noise, not recorded from a person."
PLACE, TURN = 0.012, 0.025  # a person's standard deviations: of the line's place (times the scale), of its angle
ATTEMPTS = 50
SHOWN = (
    "tshirt", "longsleeve", "hoodie", "short tshirt", "longsleeve", "small tshirt", "hoodie", "short tshirt", "hoodie",
    "small hoodie",
)  # fmt: skip
SMALL = (0.35, 0.5)  # of a grown-up's
SHORT = (0.3, 0.9)  # of a sleeve that is left where it is cut short ..
FLARED = (0.0, 0.25)  # .. and by how much such a shirt may be wider at the hem
LEANS = tuple(np.radians([0, 3, -3, 6, -6, 9, -9, 12, -12]).tolist())  # of the crease beside a sleeve
ALL_OF_IT = 0.98  # of a sleeve, to the eye


def script(garment: Garment, rng: np.random.Generator) -> tuple[str, ...]:
    """The order of folds: the hood, both sleeves, either first, then in half what is large; without sleeves: side on
    side, then in half."""
    hood = tuple(part.name for part in garment.parts if part.name == "hood")
    sleeves = [part.name for part in garment.parts if part.name.startswith("sleeve")]
    if len(sleeves) == 2 and rng.random() < 0.5:
        sleeves.reverse()
    half = ("half",) if Referee(garment).large else ()
    return (*hood, *sleeves, *half) if sleeves else ("side", "half")


def script_orders(garment: Garment) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Good orders (every sleeve before the half fold) and bad ones of the same folds, to rank without any search.

    A hood comes first in all of them.
    """
    hood = tuple(part.name for part in garment.parts if part.name == "hood")
    names = (*[part.name for part in garment.parts if part.name.startswith("sleeve")], "half")
    orders = [(*hood, *order) for order in permutations(names)]
    return [o for o in orders if o[-1] == "half"], [o for o in orders if o[-1] != "half"]


def scripted_folds(garment: Garment, names: Sequence[str], rng: np.random.Generator) -> list[Fold]:
    """One folding segment per name ("hood", "sleeve_left", "half", "side", ..), each on what the ones before left."""
    cloth = Cloth.flat(garment)
    folds = []
    for name in names:
        action = _segment(garment, cloth, name, rng)
        cloth = fold(cloth, action)
        folds.append(action)
    return folds


def demonstrate(garment: Garment, rng: np.random.Generator) -> Demonstration:
    """Fold this garment as people do by default, with noise; the referee has seen that it went well."""
    referee = Referee(garment)
    for _ in range(ATTEMPTS):
        names = script(garment, rng)
        try:
            folds = scripted_folds(garment, names, rng)
        except WorldError:
            continue  # the noise put an end of the segment inside the cloth: a person would do it again
        cloths = [Cloth.flat(garment)]
        for action in folds:
            cloths.append(fold(cloths[-1], action))
        if not referee.sleeves or referee.judge(cloths).default_order:
            return record(Folding(garment), folds, by=BY, note=NOTE)
    raise WorldError(
        f"the script does not fit garment {garment.name!r}: after {ATTEMPTS} attempts no sequence of sleeves and half "
        "folded it; its proportions are unusual, so demonstrate it by hand"
    )


def random_demonstrations(count: int, rng: np.random.Generator, kinds: Sequence[str] = SHOWN) -> list[Demonstration]:
    """Demonstrations on garments of different proportions, the kinds in turn: templates, or small ones of them."""
    found: list[Demonstration] = []
    while len(found) < count:
        kind = kinds[len(found) % len(kinds)]
        try:
            found.append(demonstrate(random_kind(kind, rng, f"{kind} {len(found) + 1}"), rng))
        except WorldError:
            continue  # proportions that the script does not fit
    return found


def random_kind(kind: str, rng: np.random.Generator, name: str | None = None) -> Garment:
    """A garment of a template, or one of a baby's size ("small hoodie"), or cut short and flared ("short tshirt")."""
    template = template_of(kind)
    one = random_garment(template, rng, name or kind)
    if kind.endswith(f"short {template}"):
        one = tailored(one, float(rng.uniform(*SHORT)), float(rng.uniform(*FLARED)))
    return scaled(one, float(rng.uniform(*SMALL))) if kind.startswith("small ") else one


def template_of(kind: str) -> str:
    """The template's name, without what was done with it."""
    return kind.removeprefix("small ").removeprefix("short ")


def bundled() -> list[Demonstration]:
    """The twenty demonstrations that ship with meip."""
    return read_demonstrations(BUNDLED)


def _segment(garment: Garment, cloth: Cloth, name: str, rng: np.random.Generator) -> Fold:
    x0, y0, x1, y1 = cloth.bounds
    shift, turn = rng.normal(0.0, PLACE * cloth.scale), rng.normal(0.0, TURN)
    margin = 1.0 + abs(rng.normal(0.08, 0.04))
    if name == "half":
        return (x0 + x1) / 2, (y0 + y1) / 2 + shift, margin * (x1 - x0) / 2, turn
    if name == "side":
        return (x0 + x1) / 2 + shift, (y0 + y1) / 2, margin * (y1 - y0) / 2, np.pi / 2 + turn
    if name == "hood":
        return _below_hood(garment, cloth, shift, turn, margin)
    return _beside_sleeve(garment, cloth, name, shift, turn, margin)


def _below_hood(garment: Garment, cloth: Cloth, shift: float, turn: float, margin: float) -> Fold:
    """A line across the shoulders, where the hood's seam is lowest: all of the hood comes to lie on the body."""
    body = set(garment.part("body").points)
    y = min(y for x, y in garment.part("hood").points if (x, y) in body) + shift
    left, right = _ends(cloth, y)
    return (left + right) / 2, y, margin * (right - left) / 2, turn


def _ends(cloth: Cloth, y: float) -> tuple[float, float]:
    """From where to where a horizontal line runs over the cloth."""
    found = []
    for layer in cloth:
        (x0, y0), (x1, y1) = layer.polygon.T, np.roll(layer.polygon, -1, axis=0).T
        cut = (y0 > y) != (y1 > y)
        found += (x0[cut] + (x1 - x0)[cut] * (y - y0[cut]) / (y1 - y0)[cut]).tolist()
    return min(found), max(found)


def _beside_sleeve(garment: Garment, cloth: Cloth, name: str, shift: float, turn: float, margin: float) -> Fold:
    """A line down the body along the side where the sleeve is sewn on, a little inside the body."""
    body, sleeve = garment.part("body").polygon, garment.part(name).polygon
    side = 1.0 if sleeve[:, 0].mean() > body[:, 0].mean() else -1.0
    out = body[:, 0] * side
    width = float(np.ptp(out))
    seam = np.array([p for p in garment.part(name).points if p in set(garment.part("body").points)])
    x = side * (min(float((seam[:, 0] * side).min()), float(out.max()) - 0.02 * width) - 0.03 * width) + shift
    low, high = float(body[:, 1].min()), float(body[:, 1].max())
    middle, pivot = (low + high) / 2, float(seam[:, 1].mean())
    straight = np.pi / 2 + turn

    def crease(lean: float) -> Fold:
        """The same through the middle of the seam, slanted."""
        return x + (pivot - middle) * np.tan(lean), middle, margin * (high - low) / 2 / np.cos(lean), straight + lean

    return _least_slanted(Referee(garment), cloth, name, crease)


def _least_slanted(referee: Referee, cloth: Cloth, name: str, crease: Callable[[float], Fold]) -> Fold:
    """No more slanted than it takes for the sleeve to come to lie on the body, or where most of it does."""
    best, most = crease(0.0), -1.0
    for lean in LEANS:
        try:
            share = referee.coverage(fold(cloth, crease(lean)), name)
        except WorldError:
            continue  # an end of it lies inside the cloth
        if share > most + 0.01:
            best, most = crease(lean), share
        if share >= ALL_OF_IT:
            break
    return best
