"""World: what can be done, and what then happens (the paper's Definition 2), and the hooks that a world may offer.

Any class with the six members of `World` is a world; states and actions are any hashable values. A world that is a
(frozen) dataclass can be written to a problem document as it is.

What else a world can do is a hook: a small protocol that it offers by having its members, without inheriting anything.

Ask for a hook by ``offers(world, Draws)``; `check_world` reports one that is half there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, TypeVar, cast, runtime_checkable

import numpy as np

from meip.base.errors import WorldError
from meip.model.domain import Domain, FactBlock, Facts
from meip.model.scenes import TakesLines

if TYPE_CHECKING:
    from meip.model.demonstrations import Episode, Plan
    from meip.model.graph import StateGraph

__all__ = [
    "HOOKS", "MOST_STATES", "Action", "Batches", "CountsActions", "Decodes", "Describes", "Draws", "Fast", "Files",
    "GoesOn", "HasGoal", "Instructs", "Lazy", "MadeOf", "NamesParts", "Open", "Paints", "Picture", "State",
    "StaticFacts", "World", "counted", "describe", "encode", "half_offered", "has", "horizon_of", "made_of", "offers",
    "paint", "pictures", "plan_text", "with_proposal",
]  # fmt: skip

MOST_STATES = 1_000_000  # of an episode; searches keep arrays of this length
State: TypeAlias = Any  # hashable
Action: TypeAlias = Any  # hashable


class World(Protocol):
    """A problem to plan in: a domain, where it starts, what can be done, and what is true."""

    @property
    def domain(self) -> Domain:
        """What can be said about a state."""
        ...

    @property
    def horizon(self) -> int:
        """States of an episode at most, the first included: at most ``horizon - 1`` actions.

        A world may count actions instead (`CountsActions`).
        """
        ...

    def initial(self) -> Sequence[tuple[float, State]]:
        """The initial states with their probabilities."""
        ...

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done here; empty when the episode is over."""
        ...

    def outcomes(self, state: State, action: Action) -> Sequence[tuple[float, State]]:
        """What an action may lead to, with probabilities."""
        ...

    def facts(self, state: State) -> Facts:
        """Entity counts and one table per fluent that is not in `static_facts`."""
        ...


@runtime_checkable
class CountsActions(Protocol):
    """Actions of an episode at most, in place of `horizon`, which counts states and is one more."""

    @property
    def max_steps(self) -> int: ...


@runtime_checkable
class StaticFacts(Protocol):
    """Facts that hold in every state, stated once; `facts` leaves them out."""

    def static_facts(self) -> Facts: ...


@runtime_checkable
class Batches(Protocol):
    """The facts of many states without a loop over them, static ones included."""

    def facts_batch(self, states: Sequence[State]) -> list[FactBlock]: ...


@runtime_checkable
class Describes(Protocol):
    """One line about a state, for people."""

    def describe(self, state: State) -> str: ...


@dataclass(frozen=True)
class Picture:
    """What a state looks like: SVG (or other markup for a page), with a caption and perhaps a remark."""

    caption: str
    svg: str = ""
    note: str = ""
    html: str = ""
    """Instead of `svg`, where a state is better shown as a table."""


@runtime_checkable
class Draws(Protocol):
    """Pictures of the states of a plan, at least one each; `actions` are those between them."""

    def draw(self, states: Sequence[State], actions: Sequence[Action]) -> Sequence[Picture]: ...


@runtime_checkable
class Paints(Draws, Protocol):
    """A plan as one picture file, of whatever formats the world knows; it raises `DocumentError` for others."""

    def paint(self, path: str | Path, states: Sequence[State], actions: Sequence[Action], title: str) -> None: ...


@runtime_checkable
class Instructs(Protocol):
    """How each action of a plan is carried out, as JSON objects, for those who do it: people or robots."""

    def instructions(self, states: Sequence[State], actions: Sequence[Action]) -> Sequence[dict[str, Any]]: ...


@runtime_checkable
class MadeOf(Protocol):
    """The kinds of parts that this problem has and others may lack, as nouns: plans name those that nobody showed."""

    def made_of(self) -> Sequence[str]: ...


@runtime_checkable
class NamesParts(Protocol):
    """What an action consists of, for people who choose one: ``[("stage", "2"), ("type", "torch"), ("number", "5")]``.

    Actions are grouped by the first part; all of a state that begin alike should have the same names.
    """

    def action_parts(self, action: Action) -> Sequence[tuple[str, str]]: ...


@runtime_checkable
class HasGoal(Protocol):
    """The world has a goal of its own, which ends the episode."""

    def reached(self, state: State) -> bool: ...


@runtime_checkable
class GoesOn(HasGoal, Protocol):
    """Where another step would have led from a state in which the goal ended the episode: stopping was a choice."""

    def onward(self, state: State) -> Sequence[State]: ...


@runtime_checkable
class Decodes(Protocol):
    """The action that `encode` wrote as this JSON value, found without listing actions.

    It checks that the action is well formed; `outcomes` raises `WorldError` where it is not legal. None: look among
    `actions` after all.
    """

    def decode_action(self, value: Any) -> Action | None: ...


@runtime_checkable
class Open(Decodes, Protocol):
    """More actions than can be listed: `actions` gives those that a proposal brings up.

    learn_proposal  what replayed demonstrations, of this or of other worlds of the kind, say about which actions to
                    bring up, as a document
    with_proposal   this world with such a proposal; `alternatives`: to learn from. Then it also lists what nobody would
                    do, in numbers: what was never seen cannot be learned to be worse
    """

    def learn_proposal(self, plans: Sequence[Plan]) -> dict[str, Any]: ...

    def with_proposal(self, proposal: Mapping[str, Any], *, alternatives: bool = False, seed: int = 0) -> World: ...


@runtime_checkable
class Lazy(Protocol):
    """Actions are listed as far as they are asked for, where states are costly to make and nothing is left to chance.

    first_moves  for each state its first so many actions with what they lead to, in the order of `actions`, and whether
                 these are all. Tree search then makes only what it visits, many at a time
    most_moves   as many actions as a state can have
    """

    @property
    def most_moves(self) -> int: ...

    def first_moves(
        self, states: Sequence[State], counts: Sequence[int]
    ) -> Sequence[tuple[Sequence[tuple[Action, State]], bool]]: ...


@runtime_checkable
class Files(Protocol):
    """Problem and plan files of the world's own; readers are class methods, registered under ``meip.files``."""

    suffixes: tuple[str, ...]
    """Of problem files, with the dot."""

    @classmethod
    def read_problem(cls, path: str | Path, domain: str | Path | None = None) -> World: ...

    @classmethod
    def read_plans(cls, folder: str | Path, domain: str | Path | None = None) -> list[Episode]: ...

    @classmethod
    def plan_text(cls, actions: Sequence[Any]) -> str: ...


@runtime_checkable
class Fast(Protocol):
    """A graph with the same states and actions, on whatever the world packs its states into."""

    def state_graph(self) -> StateGraph: ...


HOOKS: tuple[type[Any], ...] = (
    CountsActions, StaticFacts, Batches, Describes, Draws, Paints, Instructs, MadeOf, NamesParts, TakesLines, HasGoal,
    GoesOn, Decodes, Open, Lazy, Files, Fast,
)  # fmt: skip
Hook = TypeVar("Hook")


def offers(world: object, hook: type[Hook]) -> TypeGuard[Hook]:
    """Does the world (or a class of worlds) have all members of this hook?"""
    return all(has(world, name) for name in _members(hook))


def half_offered(world: object) -> list[tuple[str, list[str]]]:
    """Hooks of which a world has a member of their own but not all: the hook's name, and what is missing."""
    found = []
    for hook in HOOKS:
        inherited = {name for base in hook.__mro__[1:] if base in HOOKS for name in _members(base)}
        missing = sorted(name for name in _members(hook) if not has(world, name))
        if missing and any(has(world, name) for name in _members(hook) - inherited):
            found.append((hook.__name__, missing))
    return found


_MEMBERS: dict[Any, frozenset[str]] = {}  # filled once per hook


def _members(hook: Any) -> frozenset[str]:
    if hook in _MEMBERS:
        return _MEMBERS[hook]
    names: set[str] = set()
    for base in hook.__mro__:
        if base in (Protocol, object) or base.__name__ == "Generic":
            continue
        names |= {n for n in (*vars(base), *vars(base).get("__annotations__", {})) if not n.startswith("_")}
    return _MEMBERS.setdefault(hook, frozenset(names))


def has(world: object, name: str) -> bool:
    """Does the world have this member, whether or not asking for it fails?"""
    try:
        return hasattr(world, name)
    except Exception:  # a property that exists and fails: whoever asks for it will see
        return True


def horizon_of(world: object) -> int:
    """States of an episode at most, the first included: the world's `horizon`, or one more than its `max_steps`."""
    horizon, steps = _count(world, "horizon", 1, "states"), _count(world, "max_steps", 0, "actions")
    if horizon is None and steps is None:
        raise WorldError(
            f"{type(world).__name__} has neither horizon, the states of an episode at most, nor max_steps, its actions"
        )
    if horizon is not None and steps is not None and horizon != steps + 1:
        raise WorldError(
            f"horizon = {horizon} and max_steps = {steps} contradict each other: horizon counts states, the first "
            "included, and is one more than max_steps, which counts actions; give one of them"
        )
    return horizon if horizon is not None else cast(int, steps) + 1


def _count(world: object, name: str, least: int, what: str) -> int | None:
    found = getattr(world, name, None)
    if isinstance(found, int | np.integer) and found > MOST_STATES:
        raise WorldError(f"{name} may be {MOST_STATES:,} {what} at most")
    if found is None or (isinstance(found, int | np.integer) and not isinstance(found, bool) and found >= least):
        return None if found is None else int(found)
    note = " (the first included: at most horizon - 1 actions)" if what == "states" else ""
    raise WorldError(f"{name} must be a {'positive ' * least}number of {what}, got {found!r}{note}")


def counted(horizon: int) -> str:
    """A horizon for people: states, and the actions between them."""
    return f"{horizon} state{'s' * (horizon != 1)} ({horizon - 1} action{'s' * (horizon != 2)})"


def describe(world: object, state: State) -> str:
    """One line about a state, for people: the world's own, or the state as it prints."""
    return world.describe(state) if offers(world, Describes) else str(state)


def pictures(world: object, states: Sequence[State], actions: Sequence[Action]) -> list[Picture]:
    """The states of a plan as the world draws them; else in words, under what was done."""
    if offers(world, Draws):
        return list(world.draw(states, actions))
    captions = ["start", *(str(action) for action in actions)]
    return [Picture(caption, note=describe(world, state)) for caption, state in zip(captions, states, strict=True)]


def made_of(world: object) -> tuple[str, ...] | None:
    """The kinds of parts that a problem has, each once; None where the world does not say (`MadeOf`)."""
    return tuple(dict.fromkeys(map(str, world.made_of()))) if offers(world, MadeOf) else None


def paint(world: object, path: str | Path, states: Sequence[State], actions: Sequence[Action], title: str) -> bool:
    """Write a plan as a picture, if the world paints; whether it did."""
    if offers(world, Paints):
        world.paint(path, states, actions, title)
        return True
    return False


def plan_text(world: object, actions: Sequence[Any]) -> str:
    """A plan file as the world writes it (`Files`); else one ``(action arg ..)`` per line."""
    if offers(world, Files):
        return world.plan_text(actions)
    lines = [f"({' '.join(map(str, a))})" if isinstance(a, list | tuple) else str(a) for a in actions]
    return "".join(f"{line}\n" for line in lines) + f"; cost = {len(lines)} (unit cost)\n"


def with_proposal(world: Any, proposal: Mapping[str, Any] | None) -> Any:
    """The world, listing the actions that were learned to be worth considering, where it cannot list them all."""
    return world if proposal is None or not offers(world, Open) else world.with_proposal(proposal)


def encode(value: Any) -> Any:
    """An action or state as a JSON value: strings, numbers, booleans, None, nested lists and objects.

    Numbers and arrays of numpy become Python's; anything else is written by `str`.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(key): encode(v) for key, v in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        plain = value.tolist()
        return str(plain) if isinstance(plain, np.generic) else encode(plain)  # what Python has no type for stays
    return str(value)
