"""Words for comparisons with a number: more than 3, at most 43 %, above 9.8."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Literal

__all__ = ["BY", "HOLDS", "TURNED", "VERBS", "Relation", "how_many", "how_much", "number", "percentage"]

Relation = Literal["=", "!=", "<", "<=", ">", ">="]

TURNED: dict[Relation, Relation] = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""What holds of b and a where this holds of a and b."""

HOLDS: dict[Relation, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VERBS: dict[Relation, str] = {
    "=": "equals",
    "!=": "does not equal",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}
BY: dict[Relation, str] = {
    "=": "exactly",
    "!=": "not exactly",
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
}
"""Before an amount."""


def number(value: float) -> str:
    """A number with few digits, and without an exponent: 9.8, 20.25, 0.429, 1235."""
    if value.is_integer() and abs(value) < 2**53:
        return f"{value:.0f}"
    if not 1e-6 <= abs(value) < 2**53:
        return f"{value:.3g}"
    return _few(value, 4, 3)


def percentage(share: float) -> str:
    """A share with few digits, and never as none or all if it is not: 43 %, 12.5 %, 99.7 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    shown = next((s for s in (_few(100 * share, 3, digits) for digits in range(2, 12)) if s != "100"), "100")
    return f"{shown} %"


def _few(value: float, exact: int, rounded: int) -> str:
    """So many significant digits if they are all there are, else rounded to fewer; whole digits are always kept."""
    size = math.floor(math.log10(abs(value)))
    digits = exact if math.isclose(value, float(f"{value:.{exact}g}"), rel_tol=1e-9) else rounded
    text = f"{value:.{max(0, digits - 1 - size)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def how_many(relation: Relation, k: float) -> str | None:
    """The quantifier for a count that compares so with k: some, no, more than 3. None if there is no short one."""
    if not k.is_integer():
        if relation in ("=", "!="):
            return None
        relation, k = ("<=", math.floor(k)) if relation in ("<", "<=") else (">=", math.ceil(k))
    if (relation, k) in ((">", 0), ("!=", 0), (">=", 1)):
        return "some"
    if (relation, k) in (("<=", 0), ("=", 0), ("<", 1)):
        return "no"
    if k < 1:
        return None  # true, or false, whatever the count
    return f"{'fewer than' if relation == '<' else BY[relation]} {k:.0f}"


def how_much(relation: Relation, share: float, scoped: bool) -> str | None:
    """The quantifier for a share that compares so with this one: some, not all, more than 43 % of the.

    The share of an empty scope is missing, so "all" and "no", which are true of it, are said without a scope only.
    """
    if (relation, share) in ((">", 0), ("!=", 0)):
        return "some"
    if (relation, share) in (("<", 1), ("!=", 1)):
        return "not all"
    if (relation, share) in (("<=", 0), ("=", 0)):
        return "0 % of the" if scoped else "no"
    if (relation, share) in ((">=", 1), ("=", 1)):
        return "100 % of the" if scoped else "all"
    if not 0 < share < 1 or relation == "!=":
        return None
    exact = math.isclose(float(percentage(share)[:-2]), 100 * share, rel_tol=1e-9)
    return f"{BY[relation] if exact or relation != '=' else 'about'} {percentage(share)} of the"
