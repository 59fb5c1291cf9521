"""Baselines as agents: they learn from the same demonstrations as a task, and act in the same graphs.

MaxEntAgent   MaxEnt-IRL on given concepts, the paper's baseline: a reward that knows no order
CloneAgent    does what was done in the most similar situation that was shown
GoalAgent     counts the goal facts that still miss (or what all demonstrations ended with), and searches by that
RandomAgent   any action
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.errors import BudgetError, LearningError
from meip.baselines.maxent_irl import MaxEntIRL, PlanPool
from meip.baselines.tabular import Policy, Statistic, TabularWorld
from meip.concepts.bank import ConceptBank
from meip.concepts.check import kind
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns, Programs, values_at
from meip.learning.shown import ShownPlans
from meip.model.demonstrations import Episode
from meip.model.graph import StateGraph
from meip.search.find import find
from meip.search.plans import enumerate_plans
from meip.search.query import Found, Query
from meip.utility.ranking import ScoreRanking
from meip.utility.terms import UtilityTerm, features

__all__ = ["LISTED", "CloneAgent", "GoalAgent", "MaxEntAgent", "RandomAgent", "goal_ranking"]

EXPANDED = 1000  # states that goal counting looks at where the goal is read off demonstrations
LISTED = 100_000  # states of a world that MaxEnt-IRL solves exactly
POOL = 100_000  # plans of a world that stand for all, where demonstrated actions are not among those that it lists


class MaxEntAgent:
    """MaxEnt-IRL on some concepts, fitted to demonstrations; it acts by its optimal policy, and ties fall at random.

    Needs worlds whose states can be listed. Where a demonstration did what its world does not list, the plans of that
    world and the demonstration stand for all.
    """

    def __init__(
        self, terms: Sequence[UtilityTerm], episodes: Sequence[Episode], statistic: Statistic = "visits"
    ) -> None:
        self.terms = tuple(terms)
        training = ShownPlans(episodes)
        shown: list[list[Sequence[int]]] = [[] for _ in training.graphs]
        for case, one in training.shown:
            shown[case.graph].append(one.states)
        problems = [self._problem(graph, plans) for graph, plans in zip(training.graphs, shown, strict=True)]
        self.model = MaxEntIRL(statistic).fit(problems, shown)
        self._policies: WeakKeyDictionary[StateGraph, dict[int, Policy]] = WeakKeyDictionary()

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        """One step, and then it is asked again."""
        horizon = query.length(graph, history[:1])
        known = self._policies.setdefault(graph, {})
        if horizon not in known:
            known[horizon] = self.model.policy(self._tabular(graph, horizon))
        numbers = graph.action_numbers(history[-1])
        odds = known[horizon].actions[len(history) - 1, numbers.start : numbers.stop]
        rng = np.random.default_rng([query.seed, *history])
        chosen = numbers[int(rng.choice(len(numbers), p=odds / odds.sum()))]
        return Found(tuple(history), (chosen,), 0.0, method="policy")

    def __getstate__(self) -> dict[str, object]:
        """Without the policies, which are of graphs: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_policies"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _policies=WeakKeyDictionary())

    def _problem(self, graph: StateGraph, shown: Sequence[Sequence[int]]) -> TabularWorld | PlanPool:
        for states in shown:
            graph.expand_many(states[:-1])
        listed = all(b in graph.successors(a) for states in shown for a, b in pairwise(states))
        if listed:
            return self._tabular(graph)
        length = max(map(len, shown))
        plans = enumerate_plans(graph, shown[0][0], length, POOL)
        rows = np.full((len(plans) + len(shown), plans.states.shape[1]), -1, np.int64)
        rows[: len(plans)] = plans.states
        for row, states in zip(rows[len(plans) :], shown, strict=True):
            row[: len(states)] = states
        lengths = np.append(plans.lengths, [len(states) for states in shown])
        return PlanPool(rows, lengths, np.zeros(len(rows)), self.features(graph))

    def _tabular(self, graph: StateGraph, horizon: int | None = None) -> TabularWorld:
        graph.expand_all(LISTED, horizon=horizon)
        return TabularWorld.from_graph(graph, self.features(graph), horizon)

    def features(self, graph: StateGraph) -> Floats:
        """Its concepts over all states of a graph that are known."""
        values, missing = GraphColumns(graph).matrix([term.concept for term in self.terms])
        return features(self.terms, values, missing)


class CloneAgent:
    """Does what was done in the most similar situation that was shown, stopping among it.

    A situation is the values of all concepts of one fluent, and what an action changes in them; differences are in
    units of how much each varied in the demonstrations. What is sometimes missing is left out.
    """

    def __init__(self, episodes: Sequence[Episode], grammar: Grammar | None = None) -> None:
        training = ShownPlans(episodes)
        bank = ConceptBank(training.domain, grammar or Grammar.paper(1))
        listed: list[Concept] = [c for _, concepts, _ in bank.levels() for c in concepts]
        values, missing = training.matrix(listed)
        rows = np.concatenate(training.demonstrated_rows())
        keep = np.flatnonzero(~missing[rows].any(axis=0))
        self.concepts = tuple(listed[k] for k in keep)
        spread = values[rows][:, keep].std(axis=0)
        self.unit = np.where(spread > 0, spread, np.inf)  # what never differed says nothing about what was shown
        steps, ends = [], []
        for own in training.demonstrated_rows():
            states = values[own][:, keep] / self.unit
            steps += [np.append(np.append(a, b - a), 0.0) for a, b in pairwise(states)]
            ends.append(np.append(np.append(states[-1], np.zeros(len(keep))), 1.0))
        self.shown = np.array([*steps, *ends])

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        """One step, or none to stop; and then it is asked again."""
        numbers = graph.action_numbers(history[-1])
        outcomes = [graph.outcomes(n) for n in numbers]
        states = [history[-1], *dict.fromkeys(s for choices in outcomes for _, s in choices)]
        found, _ = values_at(graph, Programs(graph.domain)(self.concepts), states)
        value = dict(zip(states, found / self.unit, strict=True))
        here = value[history[-1]]
        means = [sum(p * value[s] for p, s in choices) - here for choices in outcomes]
        options = np.array([[*here, *change, 0.0] for change in means] + [[*here, *np.zeros(len(here)), 1.0]])
        far = ((options[:, None, :] - self.shown[None]) ** 2).sum(axis=2).min(axis=1)
        rng = np.random.default_rng([query.seed, *history])
        best = int(rng.choice(np.flatnonzero(far <= far.min() + 1e-9)))
        return Found(tuple(history), (numbers[best],) if best < len(numbers) else (), -float(far[best]), method="clone")


class GoalAgent:
    """Searches by the number of goal facts that still miss, greedily or best-first.

    With demonstrations, where a world does not tell its goal: all that held at the end of every one, and not at the
    beginning of every one, is the goal.
    """

    def __init__(self, episodes: Sequence[Episode] | None = None, grammar: Grammar | None = None) -> None:
        self.concepts = None if episodes is None else _held_at_the_end(episodes, grammar or Grammar.paper(2))
        self.ranking = goal_ranking() if self.concepts is None else _count_ranking(self.concepts)

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        if query.method == "auto":
            query = query.changed(method="gbfs")
        if self.concepts is not None and query.iterations is None:
            query = query.changed(iterations=EXPANDED)  # without a goal there is no end to best-first search
        return find(graph, self.ranking, history, query)

    def __getstate__(self) -> dict[str, object]:
        """Without the ranking, which remembers graphs: another process makes its own."""
        return {"concepts": self.concepts}

    def __setstate__(self, state: dict[str, tuple[Concept, ...] | None]) -> None:
        self.concepts = state["concepts"]
        self.ranking = goal_ranking() if self.concepts is None else _count_ranking(self.concepts)


def _held_at_the_end(episodes: Sequence[Episode], grammar: Grammar) -> tuple[Concept, ...]:
    """The boolean concepts that were true at the end of every demonstration, and not at the beginning of every one."""
    training = ShownPlans(episodes)
    bank = ConceptBank(training.domain, grammar)
    listed = [c for _, found, _ in bank.levels() for c in found if kind(c, training.domain) == "boolean"]
    values, _ = training.matrix(listed)
    rows = [training.rows(case.graph, np.array(shown.states, np.int64)) for case, shown in training.shown]
    begun, ended = (values[[row[place] for row in rows]] > 0.5 for place in (0, -1))
    return tuple(listed[k] for k in np.flatnonzero(ended.all(axis=0) & ~begun.all(axis=0)))


def _count_ranking(concepts: Sequence[Concept]) -> ScoreRanking:
    """Minus the number of concepts that do not hold."""

    def score(graph: StateGraph, states: Ints) -> Floats:
        values, _ = values_at(graph, Programs(graph.domain)(concepts), states)
        found: Floats = (values > 0.5).sum(axis=1) - float(len(concepts))
        return found

    return ScoreRanking(score)


def goal_ranking() -> ScoreRanking:
    """Minus the number of facts that the goal asks for and that do not hold, in domains with goal copies."""

    def score(graph: StateGraph, states: Ints) -> Floats:
        pairs = [(f.name, f.goal_of) for f in graph.domain.fluents if f.goal_of is not None]
        if not pairs:
            raise LearningError(f"domain {graph.domain.name!r} has no goal copies of its predicates to count")
        found = np.zeros(len(states))
        for block in graph.facts(states.tolist()):
            for goal, now in pairs:
                open_ = block.tables[goal] & ~block.tables[now]
                found[block.states] -= open_.reshape(len(open_), -1).sum(axis=1)
        return found

    return ScoreRanking(score)


class RandomAgent:
    """Any action, as often as the world lists it."""

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        numbers = graph.action_numbers(history[-1])
        if not numbers:
            raise BudgetError("there is nothing to do: the episode is over")
        rng = np.random.default_rng([query.seed, *history])
        return Found(tuple(history), (numbers[int(rng.integers(len(numbers)))],), 0.0, method="random")
