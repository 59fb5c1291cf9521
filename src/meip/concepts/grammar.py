"""Which rules of the concept grammar the bank uses, and how far."""

from __future__ import annotations

from dataclasses import dataclass

from meip.base.documents import Strict
from meip.base.errors import ConceptError
from meip.concepts.language import Aggregator, Quantifier

__all__ = ["Grammar"]


@dataclass(frozen=True)
class Grammar(Strict):
    """The rules of the grammar that a `ConceptBank` applies, and where it stops."""

    quantifiers: tuple[Quantifier, ...] = ("all", "some", "count")
    aggregators: tuple[Aggregator, ...] = ("max", "min", "mean")
    scopes: bool = True
    """Scopes other than U: ``all(p | q)``, ``max(f | q)``."""
    negation: bool = True
    conjunction: bool = True
    boolean_arity: int | None = None
    """Negation and conjunction of terms with at most this many arguments; None for any number."""
    permutation: bool = True
    closure: bool = True
    restriction: bool = False
    composition: bool = False
    company: bool = False
    """What is in relation as it was given to be, or not: ``in and not (to . served)``, in another tray than that of its
    town; ``inside and mate . inside``, where its mate is. And on level 4, where 3 is the last, what is there beside
    another: ``some inverse(on).acid and some inverse(on).base``."""
    goal_agreement: bool = False
    """A predicate with its own goal copy: ``p and p_goal``, ``p_goal and not p``, same, within."""
    mix_goals: bool = True
    """False: plain predicates about now and about the goal are joined by the goal agreement rule only."""
    numbers: bool = True
    """Concepts compared with numbers: exactly, at least, more than ever shown. False: a count is a sum, by one."""
    thresholds: tuple[tuple[str, float], ...] = ()
    """Functions and numbers that are predicates of their own: ``moisture >= 0.5``."""
    predicate_mean: bool = False
    """``mean(p)``, the share of tuples in a predicate."""
    composites: bool = False
    """In a pursuit: P(C', C'') and F(C', C'') of different concepts, by every operation, registered ones included, at
    the level of their parts together."""
    max_level: int = 3
    """The last level, for terms of up to one argument."""
    max_role_level: int | None = None
    """The last level for terms of two and more arguments; None for `max_level`."""
    deeper_below: int | None = None
    """Go on to the next level only while the last one has fewer slots (values with their scopes) than this."""
    max_concepts: int | None = None
    """Stop before the level that would bring more concepts than this in all."""
    max_terms: int = 200_000
    """Stop before a level with more terms than this."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantifiers", tuple(self.quantifiers))
        object.__setattr__(self, "aggregators", tuple(self.aggregators))
        object.__setattr__(self, "thresholds", tuple((str(name), float(least)) for name, least in self.thresholds))
        for words, known in ((self.quantifiers, ("all", "some", "count")), (self.aggregators, ("max", "min", "mean"))):
            for word in words:
                if word not in known:
                    raise ConceptError(f"{word!r} is none of {', '.join(known)}")
        if self.max_level < 1 or (self.max_role_level is not None and self.max_role_level < 0):
            raise ConceptError("a grammar needs max_level >= 1 and max_role_level >= 0")

    @property
    def role_level(self) -> int:
        """The last level for terms of two and more arguments."""
        return self.max_level if self.max_role_level is None else self.max_role_level

    @classmethod
    def paper(cls, max_level: int = 3, max_concepts: int | None = 50_000, *, composites: bool = False) -> Grammar:
        """The paper's grammar: no restriction, no composition; with `composites` also its P(C', C'') and F(C', C'')."""
        return cls(composites=composites, max_level=max_level, max_concepts=max_concepts)

    @classmethod
    def counts(cls, max_level: int = 1) -> Grammar:
        """The paper's grammar by counts and extreme values only, which grow with a problem."""
        return cls(quantifiers=("count",), aggregators=("max", "min"), max_level=max_level, max_concepts=50_000)

    @classmethod
    def shares(cls, max_level: int = 2) -> Grammar:
        """Concepts by max, min and mean, where the mean of a predicate is the share of tuples that it is true of.

        Raw counts are left out: they grow with the number of entities and do not carry over to other problems. So are
        closures: on a problem with one more part they say something else (on hoodies every utility with one failed).
        """
        return cls(quantifiers=(), predicate_mean=True, closure=False, max_level=max_level)

    @classmethod
    def planning(cls, max_level: int = 6, max_role_level: int = 4, deeper_below: int = 300) -> Grammar:
        """The grammar for planning domains with goals: counts, restriction, composition, agreement with the goal.

        Boolean combinations are for predicates of one argument; roles meet only their own goal copies. How many there
        are to be is said by each problem's goal, so that no numbers are named.
        """
        return cls(
            quantifiers=("count",),
            aggregators=("max", "min"),
            scopes=False,
            boolean_arity=1,
            restriction=True,
            composition=True,
            goal_agreement=True,
            mix_goals=False,
            numbers=False,
            max_level=max_level,
            max_role_level=max_role_level,
            deeper_below=deeper_below,
        )
