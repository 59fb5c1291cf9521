"""World: what can be done, and what then happens (the paper's Definition 2).

Any class with these members is a world; inheriting from `World` gives the optional ones their defaults. States and
actions are any hashable values. A world that is a (frozen) dataclass can be written to a problem document as it is.

A world without chance whose states are costly to make may also have ``first_moves(states, counts)``: for each state its
first so many actions with what they lead to, in the order of `actions`, and whether these are all; and ``most_moves``,
as many as there can be. Tree search then makes only the states that it visits, many at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

from meip.model.domain import Domain, FactBlock, Facts, stack_facts

__all__ = ["Action", "State", "World", "adapt", "encode", "unwrap"]

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
        """The longest plan, counted in states."""
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

    # --- optional: defaults for classes that inherit ---

    def static_facts(self) -> Facts:
        """Counts and tables that hold in every state, stated once."""
        return Facts()

    def facts_batch(self, states: Sequence[State]) -> list[FactBlock]:
        """The facts of many states; override where tables can be made without a loop over states."""
        return stack_facts(self.domain, [self.facts(s) for s in states], self.static_facts())

    def reached(self, state: State) -> bool | None:
        """Is the goal reached here? None for worlds without a goal of their own."""
        return None

    def onward(self, state: State) -> Sequence[State]:
        """Where another step would have led from a state with which the episode ended because its goal was reached.

        Stopping there was a choice, too; by default nothing is known of it.
        """
        return ()

    def together(self, other: Any) -> tuple[Any, Callable[[Action], Action], Callable[[Action], Action]] | None:
        """This problem and another one side by side as one larger problem, and what the actions of each are called in
        it; None (the default) where there is no such thing.
        """
        return None

    def decode_action(self, value: Any) -> Action | None:
        """The action that `encode` wrote as this JSON value; None (the default): look among `actions`.

        For worlds with too many actions to list. It must check that the action is well formed; `outcomes` raises
        `WorldError` where it is not legal.
        """
        return None

    def learn_proposal(self, plans: Sequence[Any]) -> dict[str, Any] | None:
        """For worlds with too many actions to list: what replayed demonstrations (`Plan`), of this or of other worlds
        of the kind, say about which to bring up, as a document. None (the default): all are listed anyway.
        """
        return None

    def with_proposal(self, proposal: Mapping[str, Any], *, alternatives: bool = False, seed: int = 0) -> World:
        """This world, listing the actions that a learned proposal brings up.

        `alternatives`: to learn from. Then it also lists what nobody would do, in numbers: what was never seen cannot
        be learned to be worse.
        """
        return self

    def describe(self, state: State) -> str:
        """One line about a state, for people."""
        return str(state)


def encode(value: Any) -> Any:
    """An action or state as a JSON value: strings, numbers, booleans, None and nested lists; anything else by `str`."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    return str(value)


def adapt(world: Any) -> World:
    """A world with all optional members: itself where it has them, else wrapped with the defaults of `World`."""
    optional = (
        "static_facts", "facts_batch", "reached", "onward", "together", "decode_action", "learn_proposal",
        "with_proposal", "describe",
    )  # fmt: skip
    if all(hasattr(world, name) for name in optional):
        return cast(World, world)
    return cast(World, _Adapted(world))  # type: ignore[abstract]


def unwrap(world: Any) -> Any:
    """The user's own object behind `adapt`."""
    return world._world if isinstance(world, _Adapted) else world


class _Adapted(World):
    """Delegates to a world written without inheriting from `World`; inherits what it leaves out."""

    def __init__(self, world: Any) -> None:
        self._world = world

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name == "_world":
            return super().__getattribute__(name)
        inner = super().__getattribute__("_world")
        return getattr(inner, name) if hasattr(inner, name) else super().__getattribute__(name)
