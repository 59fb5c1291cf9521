"""A fluent that is a trained network: which mushrooms have spots is read off their pictures.

The pictures are drawn here; a network of one hidden layer, in plain numpy, learns in a second from labelled ones what
spots look like. What it says of a picture is the fluent `spotted`, and nobody tells the learner what it means: somebody
picks mushrooms, never one with spots, and goes home with enough for the guests. What is "enough" is another network,
an operation on two counts that was learned from yes and no. Learned from five walks, this holds in other woods:

    python mushrooms.py                                                five walks: mushrooms.jsonl
    meip learn mushrooms.jsonl --world mushrooms:Mushrooms -o task.json
    meip plan task.json mushrooms:Mushrooms

Operations of one's own are given: --given "some(picked and spotted)" --given "enough[count(picked), count(coming)]".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from meip import Domain, EntityClass, Facts, World, append_demonstration, predicate, record
from meip.concepts.operations import Operation, register_operation

SIDE = 12  # pixels of a picture
FLUENTS = (
    predicate("picked", "mushroom", phrase="{0} is picked"),
    predicate("spotted", "mushroom", static=True, phrase="{0} has spots"),  # by the network
    predicate("coming", "guest", static=True, phrase="{0} is coming"),
)
DOMAIN = Domain("mushrooms", (EntityClass("mushroom"), EntityClass("guest")), FLUENTS)
State = frozenset[int]  # those that are picked


def draw(spots: bool, rng: np.random.Generator) -> Any:
    """A grey picture [SIDE * SIDE]: a cap and a stem, somewhere, of some size; noise; and on some caps bright spots."""
    y, x = np.mgrid[:SIDE, :SIDE] - rng.uniform(5.2, 5.8, size=(2, 1, 1))
    cap = (x**2 + y**2 < rng.uniform(4, 4.8) ** 2) & (y < 1)
    picture = rng.uniform(0.25, 0.35) * cap + 0.8 * ((abs(x) < 1.2) & (y >= 1) & (y < 5))
    inside = np.argwhere(cap)
    for row, column in inside[rng.choice(len(inside), 8 * spots, replace=False)]:
        picture[row, column] = 0.9
    return (picture + rng.normal(0, 0.05, picture.shape)).ravel()


def trained(inputs: Any, labels: Any, hidden: int = 16, steps: int = 400, seed: int = 0) -> Callable[[Any], Any]:
    """A perceptron with one hidden layer (tanh) and a logistic output, fitted to yes and no by Adam."""
    rng, low, spread = np.random.default_rng(seed), inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
    sizes = ((inputs.shape[1], hidden), (hidden,), (hidden,), ())
    weights = [rng.normal(0, 1 / np.sqrt(size[0]) if len(size) > 1 else 0.1, size) for size in sizes]
    first, second = ([np.zeros(size) for size in sizes] for _ in range(2))

    def forward(given: Any) -> tuple[Any, Any, Any]:
        scaled = (given - low) / spread
        layer = np.tanh(scaled @ weights[0] + weights[1])
        return scaled, layer, 1 / (1 + np.exp(-(layer @ weights[2] + weights[3])))

    for step in range(1, steps + 1):
        scaled, layer, said = forward(inputs)
        error = (said - labels) / len(labels)
        back = np.outer(error, weights[2]) * (1 - layer**2)
        slopes = (scaled.T @ back + 1e-3 * weights[0], back.sum(axis=0), layer.T @ error, error.sum())
        for k, slope in enumerate(slopes):
            first[k] = 0.9 * first[k] + 0.1 * slope
            second[k] = 0.999 * second[k] + 0.001 * slope**2
            weights[k] = weights[k] - 0.01 * first[k] / (1 - 0.9**step) / (
                np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8
            )
    return lambda given: forward(given)[2]


@cache
def sees_spots() -> Callable[[Any], Any]:
    """The network that looks at pictures, learned from 1500 labelled ones."""
    rng = np.random.default_rng(1)
    labels = rng.random(1500) < 0.5
    return trained(np.array([draw(spots, rng) for spots in labels]), labels)


@cache
def is_enough() -> Callable[[Any], Any]:
    """The network that knows how many mushrooms are enough for how many guests (two each), learned from yes and no."""
    given = np.random.default_rng(2).integers(0, 9, size=(400, 2))
    return trained(given.astype(float), given[:, 0] >= 2 * given[:, 1])


register_operation(
    Operation("enough", (2, 2), lambda kinds: "boolean", lambda picked, guests: (
        is_enough()(np.stack([picked, guests], axis=1)) > 0.5).astype(np.float64), english="{0} is enough for {1}")
)  # fmt: skip


@dataclass(frozen=True)
class Mushrooms(World):
    """A wood with some mushrooms; their pictures follow from the seed."""

    kind: ClassVar[str] = "mushrooms"
    mushrooms: int = 9
    guests: int = 2
    seed: int = 0
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return self.mushrooms + 1

    @cached_property
    def spots(self) -> tuple[bool, ...]:
        """The truth, which only the demonstrator and the pictures know; no fluent says it."""
        return tuple((np.random.default_rng([self.seed, 0]).random(self.mushrooms) < 0.4).tolist())

    @cached_property
    def pictures(self) -> Any:
        rng = np.random.default_rng([self.seed, 1])
        return np.array([draw(spots, rng) for spots in self.spots])

    def initial(self) -> Sequence[tuple[float, State]]:
        return [(1.0, frozenset())]

    def actions(self, state: State) -> Sequence[int]:
        return [i for i in range(self.mushrooms) if i not in state]

    def outcomes(self, state: State, action: int) -> Sequence[tuple[float, State]]:
        return [(1.0, state | {action})]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"mushroom": self.mushrooms, "guest": self.guests}, {"picked": state})

    def static_facts(self) -> Facts:
        given = {"spotted": sees_spots()(self.pictures) > 0.5, "coming": range(self.guests)}
        return Facts.build(DOMAIN, {"mushroom": self.mushrooms, "guest": self.guests}, given)


def show(world: Mushrooms, rng: np.random.Generator) -> list[int]:
    """Who knows mushrooms: two for each guest, none with spots."""
    good = [i for i, spots in enumerate(world.spots) if not spots]
    return [int(i) for i in rng.permutation(good)[: 2 * world.guests]]


def walks(count: int = 5, seed: int = 0) -> list[tuple[Mushrooms, list[int]]]:
    rng = np.random.default_rng(seed)
    woods = [
        Mushrooms(int(rng.integers(8, 12)), int(rng.integers(1, 3)), int(rng.integers(1000))) for _ in range(count)
    ]
    return [(wood, show(wood, rng)) for wood in woods]


if __name__ == "__main__":
    for wood, picked in walks():
        append_demonstration("mushrooms.jsonl", record(wood, picked, by="who knows mushrooms"))
