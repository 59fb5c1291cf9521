"""The walk by choices: at every state the step that adds most, or to stop where that is worth more.

One step is looked at where it gains as much as shown steps did; else, or always where the demonstrations are foreseen
better by it, the best discounted way that begins with a step. An alternative is an action's outcomes with their
chances: actions with equal outcomes are one, and where chance has a say, one step is looked at, by expectation. Where
steps count by their history, looking ahead takes for the past what has really been seen.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import LearningError
from meip.model.graph import StateGraph
from meip.model.world import Open, offers
from meip.search.greedy import without_loops
from meip.search.query import Clock, Found, Query, RootMove
from meip.utility.preferences import ChoiceRanking, beaten, outdone, standing
from meip.utility.ranking import Ranking

__all__ = ["Chooser", "Options", "search"]

DISCOUNT = 0.7
DEPTH, NODES, BEAM = 6, 400, 60
WEAR = 0.3  # what a state loses each time that it is come to
NEAR = 1.0  # nats below the least worth of a shown stop
RISK = 0.05
STUCK = 60  # steps without coming higher
RATE = 0.07  # of the spread of a step's alternatives: what a value loses each time that it is met
NEVER_STOP, FRESH = -1e3, 1e3
AGAIN, LOOSE, LOOSER = 12, 0.2, 3  # walks after one that ran into trouble, by steps that are so much worse at most;
# after so many by steps twice as much worse
ALIKE = 0.5  # of what two alternatives differ by, in nats: so much likelier they are counted apart
SAME = 1e-9
Outcomes = tuple[tuple[float, int], ...]


class Options(NamedTuple):
    """What can be done in a state: an action and its outcomes each, what they are worth, and what stopping is."""

    actions: list[int]
    outcomes: list[Outcomes]
    worth: Floats
    stop: float


class Chooser:
    """Looks at the alternatives of states as one model sees them: the learned one, or one that held a demonstration
    out."""

    def __init__(self, graph: StateGraph, ranking: ChoiceRanking, view: int = 0, clock: Clock | None = None) -> None:
        self.graph, self.ranking = graph, ranking
        self.clock = clock if clock is not None and clock.stop is not None else None  # when to look no further ahead
        self.how = ranking.preferences
        self.least = self.how.least
        seen = ranking.view(view)
        self.g, self.h = seen.g, seen.stop
        self.never, self.first = seen.never[ranking.state_rules], seen.first[ranking.state_firsts]
        self.step_never, self.step_first = seen.never[ranking.step_rules], seen.first[ranking.step_firsts]
        firm = np.array([not rule.hunch for rule in self.how.never], np.bool_)
        self.firm, self.step_firm = firm[ranking.state_rules], firm[ranking.step_rules]
        self._costs: dict[int, dict[Outcomes, Floats]] = {}
        self.has_goal, self._open = graph.has_goal, offers(graph.world, Open)
        self._known: dict[int, tuple[list[int], list[Outcomes]]] = {}
        self._over: dict[int, bool] = {}
        self._stop = ranking.constant[self.h]
        self._past: Floats | None = None
        self._reasons = not graph.has_goal and bool(self.how.done.terms) and not self.how.by_itself

    def alternatives(self, state: int) -> tuple[list[int], list[Outcomes]]:
        """The first action of each kind and its outcomes."""
        known = self._known.get(state)
        if known is None:
            found: dict[Outcomes, int] = {}
            numbers = self.graph.action_numbers(state)
            for number, outcomes in zip(numbers, self.graph.fan(state), strict=True):
                found.setdefault(tuple(sorted((round(p, 12), s) for p, s in outcomes)), number)
            known = self._known[state] = list(found.values()), list(found)
        return known

    def remember(self, seen: Mapping[int, int]) -> None:
        """The past, as states and how often they were come to: what steps add to it, where histories count."""
        if self.how.history:
            values = self.ranking(self.graph, list(seen))[list(seen), self.g]
            self._past = np.repeat(values, list(seen.values()))

    def _standing(self, g: Floats) -> Floats:
        return g if self._past is None else standing(g, self._past, self.how.history)

    def _ending(self, states: Sequence[int]) -> Floats:
        """What it is worth that the episode is over in these states; 0 where it is not."""
        found = np.zeros(len(states))
        if not self._reasons:
            return found
        worth = self.ranking(self.graph, states)[list(states), self.h] - self._stop
        for k in np.flatnonzero(worth > SAME).tolist():
            state = states[k]
            if state not in self._over:
                self._over[state] = self.graph.over(state)
            found[k] = worth[k] * self._over[state]
        return found

    def gains(self, befores: Sequence[int], outcomes: Sequence[Outcomes], firm: bool = False) -> tuple[Floats, Floats]:
        """What each alternative (of these states) adds, and what the rules take that it would begin to break; `firm`:
        those that are more than hunches."""
        flat = [s for each in outcomes for _, s in each]
        table = self.ranking(self.graph, [*befores, *flat])
        odds = np.array([p for each in outcomes for p, _ in each])
        sizes = [len(each) for each in outcomes]
        first = np.cumsum([0, *sizes[:-1]])
        reached = self._standing(table[flat, self.g]) + self._ending(flat)
        found = np.add.reduceat(reached * odds, first) - self._standing(table[befores, self.g])
        broken = np.zeros(len(outcomes))
        if self.ranking.rules:
            rules = slice(2, 2 + self.ranking.rules)
            old = np.repeat(table[befores, rules] > 0.5, sizes, axis=0)
            new = (table[flat, rules] > 0.5) & ~old & (odds[:, None] > RISK)
            broken = np.logical_or.reduceat(new, first, axis=0) @ (self.never * self.firm if firm else self.never)
        if len(self.ranking.before):
            earlier, later = self.ranking.before.T
            old = np.repeat(table[befores][:, later] > 0.5, sizes, axis=0)
            after = table[flat]
            early = (after[:, later] > 0.5) & ~old & (after[:, earlier] < 0.5) & (odds[:, None] > RISK)
            broken = broken + np.logical_or.reduceat(early, first, axis=0) @ self.ranking.order_strength
        return np.asarray(found, np.float64), np.asarray(broken, np.float64)

    def _rank(self, state: int, outcomes: Sequence[Outcomes]) -> Floats:
        """What alternatives lose that others come before."""
        lost = np.zeros(len(outcomes))
        if not len(self.first):
            return lost
        flat = [s for each in outcomes for _, s in each]
        table = self.ranking(self.graph, [state, *flat])
        odds = np.array([p for each in outcomes for p, _ in each])
        cuts = np.cumsum([0, *(len(each) for each in outcomes[:-1])])
        whole = np.array([0, len(outcomes)])
        for column, largest, weight in zip(self.ranking.ranked, self.ranking.largest, self.first, strict=True):
            after = np.add.reduceat(table[flat, column] * odds, cuts)
            before = np.full(len(outcomes), table[state, column])
            lost += weight * beaten(before, after if largest else -after, whole, largest)
        return lost

    def step_costs(self, state: int, outcomes: Sequence[Outcomes]) -> Floats:
        """What alternatives pay [alternatives, rules and quantities of steps]: for what they do while there is another
        way, and for what they do before something else."""
        if not self.ranking.of_steps:
            return np.zeros((len(outcomes), 0))
        if state not in self._costs:
            listed = self.alternatives(state)[1]
            self._costs[state] = dict(zip(listed, self._costs_of(state, listed), strict=True))
        known = self._costs[state]
        if any(each not in known for each in outcomes):  # not among those that are listed
            every = list(dict.fromkeys([*known, *outcomes]))
            known = dict(zip(every, self._costs_of(state, every), strict=True))
        return np.array([known[each] for each in outcomes])

    def _costs_of(self, state: int, outcomes: Sequence[Outcomes]) -> Floats:
        ranking, rules = self.ranking, len(self.step_never)
        found = np.zeros((len(outcomes), len(ranking.of_steps)))
        if not len(found):
            return found
        table = ranking.steps(self.graph, [(state, s) for each in outcomes for _, s in each])
        odds = np.array([p for each in outcomes for p, _ in each])
        first = np.cumsum([0, *(len(each) for each in outcomes[:-1])])
        done = np.logical_or.reduceat((table[:, :rules] > 0.5) & (odds[:, None] > RISK), first, axis=0)
        found[:, :rules] = (done & ~done.all(axis=0)) * self.step_never
        whole = np.array([0, len(outcomes)])
        for k, weight in enumerate(self.step_first):
            values = np.add.reduceat(table[:, rules + k] * odds, first)
            largest = ranking.preferences.first[ranking.step_firsts[k]].largest
            found[:, rules + k] = -weight * outdone(values, whole, largest)
        return found

    def broken_by(self, state: int, outcome: Outcomes, firm: bool = False) -> float:
        """What an alternative pays for the rules about steps that it breaks."""
        paid = self.step_costs(state, [outcome])[0, : len(self.step_never)]
        return float((paid[self.step_firm] if firm else paid).sum())

    def worth(self, state: int, outcomes: Sequence[Outcomes]) -> Floats:
        """What each alternative is worth by itself."""
        added, broken = self.gains([state] * len(outcomes), outcomes)
        found = added - broken + self._rank(state, outcomes) - self.step_costs(state, outcomes).sum(axis=1)
        return np.asarray(found, np.float64)

    def stopping(self, state: int) -> float:
        """What it is worth to stop here; a world that knows its goal decides itself."""
        return NEVER_STOP if self.has_goal else float(self.ranking(self.graph, [state])[state, self.h])

    def going_on(self, worth: Floats) -> float:
        """What it is worth not to stop: the best alternative. Where those are only some of very many, nearly the same
        thing is there many times over, each time a little likely: then all of them together."""
        return float(np.logaddexp.reduce(worth)) if self._open else float(worth.max())

    def together(self, worth: Floats, to: Sequence[int]) -> Floats:
        """What alternatives are worth, each with those that are like it where they are only some of very many: what is
        there many times over is the likelier, and its middle the best of it."""
        if not self._open:
            return worth
        parts = self.ranking.parts(self.graph, to)
        apart = np.abs(parts[:, None] - parts[None]).sum(axis=-1)
        return np.asarray(np.logaddexp.reduce(worth[None] - ALIKE * apart, axis=1), np.float64)

    def unlike_an_end(self, state: int) -> float:
        """By how much less it is worth to be done here than where demonstrations ended."""
        reached = self.stopping(state)
        most = self._stop + sum(term.weights[0] for term in self.how.done.terms)
        return max(0.0, (most if self.least is None else self.least) - NEAR - reached)

    def options(self, state: int, left: int, seen: Mapping[int, int], patience: float | None = None) -> Options:
        """What each alternative is worth: alone, or with the best way that begins with it."""
        patience = self.how.patience if patience is None else patience
        self.remember(seen)
        actions, outcomes = self.alternatives(state)
        stop = self.stopping(state)
        if not actions:
            return Options(actions, outcomes, np.zeros(0), stop)
        likeliest = [max(each)[1] for each in outcomes]
        gain = self.worth(state, outcomes) - WEAR * np.array([seen.get(s, 0) for s in likeliest])
        best = float(gain.max())
        done = self.least is not None and stop >= best and stop >= self.least - NEAR
        chancy = any(len(each) > 1 for each in outcomes)
        if chancy or done or (patience == 0 and best > max(stop, self.how.pace)):
            return Options(actions, outcomes, gain, stop)
        return Options(actions, outcomes, gain + self._ahead(state, likeliest, gain, left, seen, patience), stop)

    def _ahead(
        self, state: int, first: Sequence[int], gain: Floats, left: int, seen: Mapping[int, int], patience: float
    ) -> Floats:
        """What the best way after each first step adds to it, discounted."""
        discount = patience or DISCOUNT
        graph, ranking = self.graph, self.ranking
        table = ranking(graph, [state, *first])
        stop = 0.0 if self.has_goal else float(table[state, self.h])
        more = (
            np.zeros(len(first)) if self.has_goal else np.maximum(discount * (table[list(first), self.h] - stop), 0.0)
        )
        known = {state, *first}
        front = sorted(((float(gain[i]), s, i) for i, s in enumerate(first) if s != state), key=lambda x: -x[0])[:BEAM]
        looked, factor = len(first), discount
        for _ in range(2, min(DEPTH, left) + 1):
            front = front[: max(3, (NODES - looked) // max(len(first), 1))]
            todo: list[tuple[float, int, int, Outcomes, int]] = []
            if self.ranking.step_rules:
                self.ranking.steps(
                    graph, [(at, s) for _, at, _ in front for each in self.alternatives(at)[1] for _, s in each]
                )
            for value, at, i in front:
                if self.clock is not None:
                    if self.clock.late:
                        break
                    ranking(graph, [max(each)[1] for each in self.alternatives(at)[1]])  # between two looks at it
                for each in self.alternatives(at)[1]:
                    to = max(each)[1]
                    if to not in known:
                        known.add(to)
                        todo.append((value, at, i, each, to))
            if not todo:
                break
            added, broken = self.gains([at for _, at, _, _, _ in todo], [each for _, _, _, each, _ in todo])
            if self.ranking.step_rules:
                broken = broken + [self.broken_by(at, each) for _, at, _, each, _ in todo]
            stops = ranking(graph, [x[4] for x in todo])[[x[4] for x in todo], self.h]
            following: list[tuple[float, int, int]] = []
            for k, (value, _, i, _, to) in enumerate(todo):
                total = value + factor * (added[k] - WEAR * seen.get(to, 0)) - broken[k]
                end = total if self.has_goal else total + max(factor * discount * (stops[k] - stop), 0.0)
                more[i] = max(more[i], end - gain[i])
                following.append((total, to, i))
            looked += len(todo)
            if looked > NODES:
                break
            factor *= discount
            front = sorted(following, key=lambda x: -x[0])[:BEAM]
        return more


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """Choose step by step until stopping is worth more than any step, the goal is reached, or the episode is over.

    A walk that ran into trouble (it had to break a rule, or ended unlike every demonstration) is tried again, with
    steps that are nearly as good as the best; one that does not reach the world's goal, by the held-out models.
    """
    if not isinstance(ranking, ChoiceRanking):
        raise LearningError("method='choices' needs a task that was learned from choices (objective='choices')")
    walk = _Walk(graph, ranking, history, query)
    if graph.has_goal:
        return _to_the_goal(walk, query.seed)
    found, gained, trouble = walk.go(np.random.default_rng([query.seed, 3]), 0.0)
    for again in range(AGAIN):
        if trouble <= SAME or walk.clock.reason():
            break
        loose = LOOSE * 2 ** (again // LOOSER)
        other, its_gain, its_trouble = walk.go(np.random.default_rng([query.seed, 3, again]), loose)
        if its_trouble < trouble - SAME and its_gain - its_trouble > gained - trouble:
            found, gained, trouble = other, its_gain, its_trouble
    return found


def _to_the_goal(walk: _Walk, seed: int) -> Found:
    """Walk until the goal is reached. A walk that gets nowhere is given up for one from the start by a simpler model,
    then by those that did not see one of the demonstrations: other accidents mislead them. The last goes on to the
    limits."""
    how = walk.ranking.preferences
    simpler, judges = range(1 + how.judges, 1 + len(how.held_out)), range(1, 1 + how.judges)
    found = walk.go(np.random.default_rng([seed, 3]), 0.0, stuck=STUCK)[0]
    for view in (*simpler, *judges, 0):
        if found.stopped_by == "goal" or walk.clock.reason() or walk.chancy(found.actions):
            break  # where chance has a say, a goal that the likeliest outcomes miss may still be reached
        rng = np.random.default_rng([seed, 3, view])
        other = walk.go(rng, 0.0 if view else LOOSE, view, STUCK if view else None)[0]
        found = other if other.stopped_by == "goal" else dataclasses.replace(found, stopped_by=other.stopped_by)
    return dataclasses.replace(found, expansions=walk.clock.expansions, seconds=walk.clock.seconds)


class _Walk:
    """Walks from the same history within the same limits."""

    def __init__(self, graph: StateGraph, ranking: ChoiceRanking, history: Sequence[int], query: Query) -> None:
        self.graph, self.ranking, self.history = graph, ranking, list(history)
        self.horizon, self.clock = query.length(graph, history), Clock(query, graph)
        self.choosers = {0: Chooser(graph, ranking, clock=self.clock)}

    def go(
        self, rng: np.random.Generator, loose: float, view: int = 0, stuck: int | None = None
    ) -> tuple[Found, float, float]:
        """One walk as a model sees it, by any step that is at most so much worse than the best, given up after so many
        steps that come no higher; what it gained, and its trouble."""
        graph, clock = self.graph, self.clock
        chooser = self.choosers.setdefault(view, Chooser(graph, self.ranking, view, clock))
        states, actions = list(self.history), list[int]()
        seen = dict[int, int]()
        for state in states:
            seen[state] = seen.get(state, 0) + 1
        met = dict[float, int]()
        spread = value = gained = trouble = 0.0
        reason, root, steps = "", tuple[RootMove, ...](), 0
        top, since = -np.inf, 0
        while True:
            reason = "goal" if graph.has_goal and graph.goal(states[-1]) else ""
            reason = reason or ("horizon" if len(states) >= self.horizon else clock.reason())
            if stuck is not None:
                reached = float(self.ranking(graph, [states[-1]])[states[-1], chooser.g])
                top, since = (reached, 0) if reached > top + SAME else (top, since + 1)
                reason = reason or ("stuck" if since > stuck else "")
            if reason:
                break
            options = chooser.options(states[-1], self.horizon - len(states), seen)
            clock.expansions += 1
            steps += 1
            root = root or tuple(RootMove(a, float(w)) for a, w in zip(options.actions, options.worth, strict=True))
            if not options.actions:
                reason = "dead end" if graph.has_goal else "finished"
                break
            if options.stop > chooser.going_on(options.worth) + 1e-12:
                reason = "stopped"
                break
            likeliest = [max(each)[1] for each in options.outcomes]
            to = np.round(self.ranking(graph, likeliest)[likeliest, chooser.g], 9).tolist()
            spread += float(options.worth.std())
            worth = options.worth - RATE * spread / steps * np.array([met.get(v, 0) for v in to])
            if graph.has_goal:  # the way to a goal comes to no state twice
                worth += FRESH * (
                    np.asarray(graph.reached(likeliest), np.float64) - [seen.get(s, 0) for s in likeliest]
                )
            worth = chooser.together(worth, likeliest)
            best = np.flatnonzero(worth > worth.max() - max(loose, SAME))
            chosen = int(best[rng.integers(len(best))])
            added, broken = chooser.gains([states[-1]], [options.outcomes[chosen]], firm=True)
            broken = broken + chooser.broken_by(states[-1], options.outcomes[chosen], firm=True)
            gained, trouble = gained + float(added[0]), trouble + float(broken[0])
            value += float(options.worth[chosen])
            met[to[chosen]] = met.get(to[chosen], 0) + 1
            states.append(likeliest[chosen])
            actions.append(options.actions[chosen])
            seen[states[-1]] = seen.get(states[-1], 0) + 1
        if graph.has_goal:
            states, actions = self._straight(states, actions)
        else:
            trouble += chooser.unlike_an_end(states[-1]) + (reason == "stopped" and chooser.least is None)
        found = Found(tuple(states), tuple(actions), value, reason, clock.expansions, clock.seconds, "choices", root)
        return found, gained, 0.0 if graph.has_goal or self.chancy(actions) else trouble

    def _straight(self, states: list[int], actions: list[int]) -> tuple[list[int], list[int]]:
        """Without the loops on the way to a goal."""
        before = len(self.history) - 1
        kept = without_loops(states[before:])
        return [*states[:before], *(states[before + i] for i in kept)], [actions[i - 1] for i in kept[1:]]

    def chancy(self, actions: Sequence[int]) -> bool:
        return any(len(self.graph.outcomes(action)) > 1 for action in actions)
