"""Asking a world: what goes wrong in a user's method is an error that names the method, the state and the action.

The user's own traceback is the cause of the error; ``meip --debug`` shows it. What a method returns is looked at only
as far as the rest could not bear it: `check_world` looks closer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any, TypeVar

from meip.base.errors import MeipError, WorldError
from meip.base.text import plain
from meip.model.domain import Domain, FactBlock, Facts, stack_facts

__all__ = ["MOST_LISTED", "actions_of", "ask", "asked", "bad_pairs", "facts_of", "outcomes_of", "place", "shown"]

T = TypeVar("T")
MOST_LISTED = 200_000
"""Actions of a state, or outcomes of an action, at most: more is taken for a list without end."""


def ask(world: Any, member: str, *arguments: Any) -> Any:
    """What a method of the world answers about a state, or about a state and an action."""
    try:
        return getattr(world, member)(*arguments)
    except MeipError:  # said on purpose, in words
        raise
    except (Exception, SystemExit) as error:
        raise _failed(f"{member}()", place(world, *arguments), error) from error


def asked(name: str, work: Callable[[], T], where: str = "") -> T:
    """The same for anything else that a world is asked for."""
    try:
        return work()
    except MeipError:
        raise
    except (Exception, SystemExit) as error:
        raise _failed(name, where, error) from error


def _failed(name: str, where: str, error: BaseException) -> WorldError:
    return WorldError(f"{name} failed{where}: {type(error).__name__}: {_text(error)}")


def place(world: Any, *arguments: Any) -> str:
    """Where a method was called, as the end of a sentence."""
    if not arguments:
        return ""
    done = f" for action {shown(None, arguments[1])}" if len(arguments) > 1 else ""
    return f"{done} in state {shown(world, arguments[0])}"


def shown(world: Any, value: Any) -> str:
    """A state or an action in an error: short, and never an error itself."""
    for name in (getattr(type(world), "describe", None) and world.describe, repr):
        try:
            text = name(value) if name else None
        except Exception:
            continue
        if isinstance(text, str):
            return plain(text, 80)
    return f"of type {type(value).__name__}"


def _text(error: BaseException) -> str:
    try:
        return plain(str(error), 300)
    except Exception:
        return "an error that does not print"


def actions_of(world: Any, state: Any) -> list[Any]:
    """The actions of a state."""
    actions = _listed(ask(world, "actions", state), "actions()", world, state)
    for action in actions:
        try:
            hash(action)
        except Exception:
            kind = f"action {shown(None, action)} is not hashable{place(world, state)}"
            raise WorldError(f"actions(): {kind}; use tuples, strings or frozen dataclasses") from None
    return actions


def outcomes_of(world: Any, state: Any, action: Any) -> Sequence[tuple[float, Any]]:
    """What an action may lead to, as the world lists it: pairs of a probability and a state."""
    found = ask(world, "outcomes", state, action)
    pairs = found if type(found) is list or type(found) is tuple else _listed(found, "outcomes()", world, state, action)
    for pair in pairs:
        if type(pair) is not tuple or len(pair) != 2 or not isinstance(pair[0], Real):
            bad_pairs(pairs, "outcomes()", place(world, state, action))
    return pairs


def facts_of(world: Any, domain: Domain, states: Sequence[Any], static: Facts) -> list[FactBlock]:
    """The facts of states, stacked; what does not fit is named with its state."""
    found = [ask(world, "facts", state) for state in states]
    try:
        return stack_facts(domain, found, static)
    except Exception as error:
        for state, facts in zip(states, found, strict=True):  # whose are they?
            _check_facts(domain, facts, static, place(world, state))
        raise WorldError(f"facts(): {error}") from error


def _check_facts(domain: Domain, facts: Any, static: Facts, where: str) -> None:
    if not isinstance(facts, Facts):
        raise WorldError(f"facts() must return Facts, got {shown(None, facts)}{where}")
    try:
        stack_facts(domain, [facts], static)
    except Exception as error:
        raise WorldError(f"facts(){where}: {error}".replace("the facts of state 0", "they")) from error


def bad_pairs(found: Any, name: str, where: str) -> None:
    """Refuse what is no list of (probability, state); lists in place of tuples will do."""
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise WorldError(f"{name} must return a list of (probability, state), got {shown(None, found)}{where}")
    for pair in found:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], Real):
            raise WorldError(f"{name} must list (probability, state), got {shown(None, pair)}{where}")


def _listed(found: Any, name: str, world: Any, *arguments: Any) -> list[Any]:
    if type(found) is list:
        return found
    where = place(world, *arguments)
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise WorldError(f"{name} must return a list, got {shown(None, found)}{where}")
    items = asked(name, lambda: list(islice(found, MOST_LISTED + 1)), where)
    if len(items) > MOST_LISTED:
        raise WorldError(f"{name} lists more than {MOST_LISTED:,}{where}: is it a list without end?")
    return items
