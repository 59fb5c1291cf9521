"""Laundry (a never-rule). The shown laundries dry only when all is washed; the changed ones dry at any time."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("wool is never tumbled", "all white things are washed before any coloured one", "everything is folded")
KINDS, STEPS = ("white", "coloured", "woollen"), ("washed", "tumbled", "dry", "folded")
FLUENTS = tuple(predicate(n, "garment", static=n in KINDS) for n in (*STEPS, *KINDS))
DOMAIN = Domain("laundry", (EntityClass("garment"),), FLUENTS)
NEXT = {"": ("wash",), "wash": ("tumble", "hang"), "wash tumble": ("fold",), "wash hang": ("fold",)}
State = tuple[str, ...]  # what was done with each garment, such as "wash hang"


@dataclass(frozen=True)
class Laundry(World):
    garments: tuple[str, ...] = ("white", "coloured", "woollen", "white")
    wash_first: bool = True
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return 3 * len(self.garments) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, ("",) * len(self.garments))]

    def actions(self, state: State) -> list[tuple[int, str]]:
        closed = ("tumble", "hang") if self.wash_first and "" in state else ()
        return [(i, verb) for i, done in enumerate(state) for verb in NEXT.get(done, ()) if verb not in closed]

    def outcomes(self, state: State, action: tuple[int, str]) -> list[tuple[float, State]]:
        return [(1.0, tuple(f"{s} {action[1]}".strip() if i == action[0] else s for i, s in enumerate(state)))]

    def facts(self, state: State) -> Facts:
        washed, tumbled, hung, folded = (np.array([v in s for s in state]) for v in ("wash", "tumble", "hang", "fold"))
        return Facts.build(DOMAIN, {"garment": len(state)}, dict(zip(STEPS, (washed, tumbled, tumbled | hung, folded))))

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"garment": len(self.garments)}, {k: np.array(self.garments) == k for k in KINDS})


def make(split: str, rng: np.random.Generator) -> Laundry:
    garments = np.repeat(KINDS, np.array([2, *rng.integers(1, 3, size=2)]) * (2 if split == "larger" else 1))
    return Laundry(tuple(rng.permutation(garments).tolist()), wash_first=split != "changed")


def show(world: Laundry, state: State, rng: np.random.Generator) -> tuple[int, str] | None:
    wrong = ("woollen", "tumble"), ("coloured", "wash" if ("white", "") in zip(world.garments, state) else "")
    fine = [(i, verb) for i, verb in world.actions(state) if (world.garments[i], verb) not in wrong]
    return fine[rng.integers(len(fine))] if fine else None


def kept(world: Laundry, states: tuple[State, ...], actions: tuple[tuple[int, str], ...]) -> dict[str, bool]:
    did = " ".join(f"{verb}-{world.garments[i]}" for i, verb in actions)  # such as "wash-white hang-white"
    neat = "tumble-woollen" not in did, "wash-white" not in did.partition("wash-coloured")[2]
    return dict(zip(RULES, (*neat, all("fold" in done for done in states[-1])), strict=True))
