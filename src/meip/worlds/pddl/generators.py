"""Random problems of the shipped domains, by size; solvable by construction, and never solved at the start."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from meip.base.errors import WorldError, did_you_mean
from meip.worlds.pddl.syntax import And, Atom, ProblemFile
from meip.worlds.pddl.writer import problem_text

__all__ = ["GENERATORS", "generate", "size_parameters"]

Random = np.random.Generator
Objects = dict[str, Sequence[str]]  # type -> names
Parts = tuple[Objects, list[Atom], list[Atom]]  # objects, initial facts, goal
Fact = tuple[str, ...]


def generate(domain: str, seed: int = 0, **sizes: int) -> str:
    """A random problem of a shipped domain as PDDL text. The same sizes and seed give the same text."""
    make = _generator(domain)
    known = size_parameters(domain)
    for name, value in sizes.items():
        if name not in known:
            raise WorldError(f"the {domain} generator has no size {name!r}; {did_you_mean(name, known)}")
        low = MINIMUM.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise WorldError(f"the {domain} generator: {name} must be a whole number from {low}, got {value!r}")
        if value > MOST:
            raise WorldError(f"the {domain} generator: {name} may be {MOST:,} at most")
    if seed < 0:
        raise WorldError(f"the {domain} generator: a seed is not negative, got {seed}")
    full = {**known, **sizes}
    objects, facts, goal = make(np.random.default_rng(seed), **full)
    name = "-".join([domain, *(f"{k}{v}" for k, v in full.items()), f"seed{seed}"])
    listed = {o: (kind,) for kind, names in objects.items() for o in names}
    return problem_text(ProblemFile(name, domain, listed, tuple(facts), {}, And(tuple(goal))))


def size_parameters(domain: str) -> dict[str, int]:
    """The size parameters of a domain's generator, with their defaults."""
    found = inspect.signature(_generator(domain)).parameters
    return {name: p.default for name, p in found.items() if name != "random"}


def _generator(domain: str) -> Callable[..., Parts]:
    if domain not in GENERATORS:
        raise WorldError(f"no generator for domain {domain[:60]!r}; {did_you_mean(domain[:60], GENERATORS)}")
    return GENERATORS[domain]


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def _atoms(facts: Iterable[Fact]) -> list[Atom]:
    return [Atom(f[0], f[1:]) for f in facts]


def _pick(random: Random, choices: Sequence[str], other_than: str | None = None) -> str:
    kept = [c for c in choices if c != other_than]
    return kept[int(random.integers(len(kept)))]


def _ferry(random: Random, cars: int = 4, landings: int = 3) -> Parts:
    places, names = _names("l", landings), _names("c", cars)
    start = {c: _pick(random, places) for c in names}
    # at least one car has to travel
    end = {c: _pick(random, places, start[c] if c == names[0] else None) for c in names}
    facts: list[Fact] = [("empty",), ("at-ferry", _pick(random, places)), *(("at", c, start[c]) for c in names)]
    return {"car": names, "landing": places}, _atoms(facts), _atoms(("at", c, end[c]) for c in names)


def _miconic(random: Random, people: int = 4, floors: int = 4) -> Parts:
    levels, names = _names("f", floors), _names("p", people)
    facts: list[Fact] = [("lift", _pick(random, levels))]
    facts += [("below", low, high) for i, low in enumerate(levels) for high in levels[i + 1 :]]
    for p in names:
        start = _pick(random, levels)
        facts += [("waits", p, start), ("wants", p, _pick(random, levels, start))]
    return {"person": names, "floor": levels}, _atoms(facts), _atoms(("served", p) for p in names)


def _spanner(random: Random, spanners: int = 4, nuts: int = 2, places: int = 4) -> Parts:
    if spanners < nuts:
        raise WorldError(f"the spanner generator: {spanners} spanners cannot tighten {nuts} nuts; each works once")
    road = ["shed", *_names("road", places), "gate"]
    tools, bolts = _names("s", spanners), _names("n", nuts)
    facts: list[Fact] = [("at", "bob", "shed")]
    facts += [("road", one, other) for one, other in pairwise(road)]
    for t in tools:
        facts += [("at", t, _pick(random, road[1:-1])), ("fresh", t)]
    for n in bolts:
        facts += [("at", n, "gate"), ("loose", n)]
    objects: Objects = {"place": road, "worker": ["bob"], "nut": bolts, "tool": tools}
    return objects, _atoms(facts), _atoms(("tight", n) for n in bolts)


def _gripper(random: Random, balls: int = 4, rooms: int = 2, grippers: int = 2) -> Parts:
    halls, names, hands = _names("room", rooms), _names("ball", balls), _names("g", grippers)
    start = {b: _pick(random, halls) for b in names}
    end = {b: _pick(random, halls, start[b] if b == names[0] else None) for b in names}
    facts: list[Fact] = [("robot-in", _pick(random, halls)), *(("free", g) for g in hands)]
    facts += [("in", b, start[b]) for b in names]
    return {"room": halls, "ball": names, "gripper": hands}, _atoms(facts), _atoms(("in", b, end[b]) for b in names)


def _towers(random: Random, names: Sequence[str]) -> list[list[str]]:
    """A random arrangement of blocks, each tower from the bottom up."""
    towers: list[list[str]] = []
    for i in random.permutation(len(names)):
        where = int(random.integers(len(towers) + 1))
        if where == len(towers):
            towers.append([])
        towers[where].append(names[int(i)])
    return towers


def _stacked(towers: list[list[str]]) -> list[Fact]:
    facts: list[Fact] = []
    for tower in towers:
        facts.append(("on-table", tower[0]))
        facts += [("on", above, below) for below, above in pairwise(tower)]
    return facts


def _blocksworld(random: Random, blocks: int = 5) -> Parts:
    names = _names("b", blocks)
    start = _towers(random, names)
    end = _towers(random, names)
    while sorted(map(tuple, end)) == sorted(map(tuple, start)):
        end = _towers(random, names)
    facts: list[Fact] = [("hand-free",), *_stacked(start), *(("clear", tower[-1]) for tower in start)]
    return {"block": names}, _atoms(facts), _atoms(_stacked(end))


def _satellite(
    random: Random, satellites: int = 2, instruments: int = 2, modes: int = 2, directions: int = 4, images: int = 3
) -> Parts:
    """`instruments` is the most that a satellite carries."""
    if images > modes * directions:
        raise WorldError(
            f"the satellite generator: {modes} modes x {directions} directions give fewer than {images} images"
        )
    ships, kinds, skies = _names("sat", satellites), _names("mode", modes), _names("dir", directions)
    facts: list[Fact] = []
    tools: list[str] = []
    for ship in ships:
        facts += [("power", ship), ("points", ship, _pick(random, skies))]
        for _ in range(int(random.integers(1, instruments + 1))):
            tool = f"ins{len(tools) + 1}"
            tools.append(tool)
            facts += [("carries", ship, tool), ("target", tool, _pick(random, skies))]
            some = random.permutation(modes)[: int(random.integers(1, modes + 1))]
            facts += [("supports", tool, kinds[int(m)]) for m in sorted(some)]
    supported = {f[2] for f in facts if f[0] == "supports"}
    facts += [("supports", _pick(random, tools), m) for m in kinds if m not in supported]  # every mode can be had
    wanted = random.permutation(modes * directions)[:images]
    goal: list[Fact] = [("image", skies[int(w) // modes], kinds[int(w) % modes]) for w in sorted(wanted)]
    objects: Objects = {"satellite": ships, "instrument": tools, "mode": kinds, "direction": skies}
    return objects, _atoms(facts), _atoms(goal)


def _childsnack(
    random: Random, children: int = 4, trays: int = 2, tables: int = 2, allergic: int = 1, spare: int = 1
) -> Parts:
    """`spare` sandwiches more than children may be made; bread and filling are for one each child."""
    if allergic > children:
        raise WorldError(f"the childsnack generator: {allergic} allergic of {children} children")
    kids, carts, places = _names("child", children), _names("tray", trays), _names("table", tables)
    breads, fillings = _names("bread", children), _names("filling", children)
    snacks = _names("sandw", children + spare)
    facts: list[Fact] = [("at", t, "kitchen") for t in carts]
    facts += [("unmade", s) for s in snacks]
    facts += [("bread-left", b) for b in breads] + [("filling-left", f) for f in fillings]
    for kind, names in (("free-bread", breads), ("free-filling", fillings)):
        facts += [(kind, names[int(i)]) for i in sorted(random.permutation(children)[:allergic])]
    sick = {int(i) for i in random.permutation(children)[:allergic]}
    for i, kid in enumerate(kids):
        facts += [("allergic" if i in sick else "tolerant", kid), ("sits", kid, _pick(random, places))]
    objects: Objects = {
        "child": kids, "bread": breads, "filling": fillings, "sandwich": snacks, "tray": carts, "place": places
    }  # fmt: skip
    return objects, _atoms(facts), _atoms(("served", k) for k in kids)


MOST = 2000  # of a size: some facts are about pairs
MINIMUM = {"landings": 2, "floors": 2, "rooms": 2, "blocks": 2, "directions": 2, "allergic": 0, "spare": 0}
GENERATORS: dict[str, Callable[..., Parts]] = {
    "blocksworld": _blocksworld,
    "childsnack": _childsnack,
    "ferry": _ferry,
    "gripper": _gripper,
    "miconic": _miconic,
    "satellite": _satellite,
    "slippery-blocks": _blocksworld,
    "spanner": _spanner,
}
