"""Evidence: every demonstrated choice with what else could have been done, as arrays over the states of all problems.

A row is an alternative: an action's outcomes with their chances, or to stop. Concepts are columns over the states of
one batch; what an alternative changes is their mean over its outcomes less their value before.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import cached_property
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import LearningError
from meip.concepts.values.denotation import Denotation
from meip.model.choices import Choices, Replayed, Walk, choices
from meip.model.domain import Domain

__all__ = ["CHOICES", "RISK", "TOGETHER", "Effects", "Evidence", "drawn"]

RISK = 0.05  # what happens more rarely than this is not risked
ALTERNATIVES = 6000  # in all: of choices with more than their share, some alternatives are drawn
FEWEST = 8  # alternatives of a choice that are kept in any case, so that so many choices at most are looked at:
CHOICES = ALTERNATIVES // FEWEST
STATES = 2000  # of demonstrations that are looked at, or all of as many as there are folds
TOGETHER = 1000  # columns that are worked on together
FOLDS = 30  # in which kinds of demonstrations are left out; as many as there are kinds, if they are fewer


def drawn(replayed: Replayed, seed: int) -> tuple[Replayed, list[int] | None]:
    """Of very many demonstrations some, with their places; None: all of them.

    What is to be had from some hundred, a thousand more say again; but every state has a value of every concept.
    """
    sizes = [len(walk.states) for walk in replayed.walks]
    if sum(sizes) <= STATES or len(sizes) <= FOLDS:
        return replayed, None
    order = np.random.default_rng([seed, 43]).permutation(len(sizes))
    room = max(FOLDS, int(np.searchsorted(np.cumsum(np.array(sizes)[order]), STATES)))
    numbers = sorted(order[:room].tolist())
    chosen = [replayed.walks[k] for k in numbers]
    used = list(dict.fromkeys(walk.graph for walk in (*chosen, *(one.walk for one in replayed.corrections))))
    place = {graph: k for k, graph in enumerate(used)}

    def moved(walk: Walk) -> Walk:
        return dataclasses.replace(walk, graph=place[walk.graph])

    corrections = tuple(dataclasses.replace(one, walk=moved(one.walk)) for one in replayed.corrections)
    graphs = tuple(replayed.graphs[k] for k in used)
    return Replayed(graphs, tuple(map(moved, chosen)), corrections, replayed.proposal), numbers


class Effects(NamedTuple):
    """What alternatives lead to. It can be sent to other processes, worlds need not."""

    before: Ints  # [N] the state in which there is the choice
    after: Ints  # [O]
    odds: Floats  # [O]
    first: Ints  # [N] the first outcome

    def change(self, columns: Floats) -> Floats:
        """What each alternative changes [N, F], from columns over the states [S, F]."""
        found = np.empty((len(self.before), columns.shape[1]))
        for first in range(0, columns.shape[1], TOGETHER):
            some = columns[:, first : first + TOGETHER]
            mean = some[self.after]
            if len(self.after) > len(self.before):
                mean = np.add.reduceat(mean * self.odds[:, None], self.first, axis=0)
            np.subtract(mean, some[self.before], out=found[:, first : first + TOGETHER])
        return found


class Evidence:
    """C choices with N alternatives, which have O outcomes among S states.

    Where a world declares its own goal, when to stop is not for the demonstrator to choose: then stopping is no
    alternative, but to stay at the goal is right among what else could be done there. Nor is stopping an alternative at
    the end of the world's time.

    A correction is two choices more (`choices`). It has a kind of its own, after those of demonstrations, and is in no
    fold: every model has seen it. Nothing else is read off it but that its right step led to a state that is all right.
    """

    def __init__(self, replayed: Replayed, seed: int = 0, most: int = ALTERNATIVES) -> None:
        self.replayed = replayed
        self.walks = [*replayed.walks, *(one.walk for one in replayed.corrections)]
        """Demonstrations, and plans up to their corrections."""
        found = choices(replayed)
        self.goals = [graph.has_goal for graph in replayed.graphs]
        self.dropped = 0
        """Alternatives that were not looked at, because there were too many."""
        self.passed_over = 0
        """Choices that were not looked at, for the same reason."""
        kept = self._kept(found, seed, most)
        self._place(found, kept)
        self._number(found, kept)
        self.once()

    # --- which alternatives ---

    def _kept(self, found: Choices, seed: int, most: int) -> list[Ints]:
        """The alternatives of each choice that count; none where there was no choice."""
        rng = np.random.default_rng([seed, 17])
        looked_at = self._looked_at(found, seed)
        share = max(most // max(int(looked_at.sum()), 1), FEWEST)
        kept = []
        for c, walk in enumerate(found.walk):
            rows = np.arange(found.first[c], found.first[c + 1])
            if not looked_at[c]:
                kept.append(rows[:0])
                continue
            graph = self.replayed.graphs[self.walks[walk].graph]
            last = found.shown[rows[-1]]  # stopping comes last
            late = len(self.walks[walk].states) >= graph.horizon
            if not last if graph.has_goal else last and late:
                rows = rows[~found.stop[rows]]
            if len(rows) > share:
                needed = rows[found.shown[rows] | found.stop[rows] | found.rejected[rows]]
                others = np.setdiff1d(rows, needed)
                drawn = rng.choice(others, share - len(needed), replace=False)
                self.dropped += len(rows) - share
                rows = np.sort(np.concatenate([needed, drawn]))
            kept.append(rows if found.shown[rows].any() and len(rows) > 1 else rows[:0])
        return kept

    def _looked_at(self, found: Choices, seed: int) -> Bools:
        """All choices, or of too many some that are drawn, and the last of every demonstration."""
        looked_at = np.ones(len(found.walk), np.bool_)
        if len(looked_at) > CHOICES:
            looked_at = np.append(found.walk[1:] != found.walk[:-1], True)
            others = np.flatnonzero(~looked_at)
            room = max(CHOICES - int(looked_at.sum()), CHOICES // 2)
            looked_at[np.random.default_rng([seed, 41]).permutation(others)[:room]] = True
            self.passed_over = len(looked_at) - int(looked_at.sum())
        return looked_at

    def _place(self, found: Choices, kept: list[Ints]) -> None:
        used = [c for c, rows in enumerate(kept) if len(rows)]
        rows = [kept[c] for c in used]
        self.count = len(used)
        self.rows = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        self.start = np.cumsum([0, *(len(r) for r in rows)]).astype(np.int64)  # [C + 1]
        self.group = np.repeat(np.arange(self.count), np.diff(self.start))  # [N] the choice of an alternative
        self.chosen = np.flatnonzero(found.shown[self.rows])  # [C]
        self.demo: Ints = found.walk[used] if used else np.zeros(0, np.int64)  # [C]
        own = np.array([not self.goals[self.walks[w].graph] for w in self.demo], np.bool_)  # [C]
        self.stop: Bools = found.stop[self.rows] & own[self.group]  # [N] to stay at a goal is not to stop
        self.walk = self.demo.copy()
        self.rejected: Bools = found.rejected[self.rows]  # [N] what was done instead where a plan was corrected
        self.corrected: Bools = self.walk >= len(self.replayed.walks)  # [C]
        self.instead: Bools = np.isin(np.arange(self.count), self.group[self.rejected])  # [C] just of right and wrong
        self.weight = np.ones(self.count)  # [C] how often it counts
        self._state = found.state[used] if used else np.zeros(0, np.int64)
        begun = np.searchsorted(found.walk, np.arange(len(self.walks)))  # of each walk, its first choice
        self.step = np.array(used, np.int64) - begun[self.walk]  # [C] in its demonstration, from 0
        for c in np.flatnonzero(self.corrected):
            self.step[c] = len(self.walks[self.walk[c]].states) - 1

    def _number(self, found: Choices, kept: list[Ints]) -> None:
        """Number the states of interest in one batch, problem by problem."""
        place: dict[tuple[int, int], int] = {}
        walks = self.walks
        wanted: list[dict[int, None]] = [{int(g.initial[0]): None} for g in self.replayed.graphs]
        for walk in walks:
            wanted[walk.graph].update(dict.fromkeys(walk.states))
        for one in self.replayed.corrections:
            wanted[one.walk.graph][one.outcome] = None
        outcomes = [found.outcomes[row] for row in self.rows]
        for row, these in enumerate(outcomes):
            wanted[walks[self.demo[self.group[row]]].graph].update((s, None) for _, s in these)
        blocks, initial = [], []
        for number, (graph, states) in enumerate(zip(self.replayed.graphs, wanted, strict=True)):
            first = len(place)
            place.update({(number, s): first + k for k, s in enumerate(states)})
            blocks += [dataclasses.replace(b, states=b.states + first) for b in graph.facts(list(states))]
            initial += [place[number, int(graph.initial[0])]] * len(states)
        self.size = len(place)
        """States."""
        self.states = tuple(place)
        """[S] the graph of each state, and its number there."""
        self.blocks = blocks
        """The facts of all states."""
        self.denotation = Denotation(self.domain, blocks, np.array(initial, np.int64))
        graph_of = [walks[d].graph for d in self.demo]
        self.at = np.array([place[g, int(s)] for g, s in zip(graph_of, self._state, strict=True)], np.int64)  # [C]
        self._ways = [np.array([place[w.graph, s] for s in w.states], np.int64) for w in walks]
        self.paths = self._ways[: len(self.replayed.walks)]
        """Of demonstrations."""
        self._right = [place[one.walk.graph, one.outcome] for one in self.replayed.corrections]
        flat = [(p, place[graph_of[self.group[row]], s]) for row, these in enumerate(outcomes) for p, s in these]
        self.first = np.cumsum([0, *(len(these) for these in outcomes)]).astype(np.int64)[:-1]  # [N] first outcome
        self.after = np.array([s for _, s in flat], np.int64)  # [O]
        self.odds = np.array([p for p, _ in flat], np.float64)  # [O]
        self.alternative = np.repeat(np.arange(len(self.rows)), [len(these) for these in outcomes])  # [O]
        over = np.zeros(self.size, np.bool_)
        for (number, state), row in place.items():
            over[row] = not self.goals[number] and self.replayed.graphs[number].over(state)
        self.over = np.add.reduceat(over[self.after] * self.odds, self.first) if len(flat) else np.zeros(0)  # [N]
        """How likely the episode is over after each alternative, by itself."""

    @property
    def domain(self) -> Domain:
        return self.replayed.domain

    @cached_property
    def shown_states(self) -> Ints:
        """The states that demonstrations went through, one demonstration after the other, and those that corrections
        led to."""
        return np.concatenate([*self.paths, np.array(self._right, np.int64)])

    def past(self, c: int) -> Ints:
        """The states up to a choice, with its own."""
        return self._ways[int(self.walk[c])][: int(self.step[c]) + 1]

    @cached_property
    def stopped(self) -> Ints:
        """The demonstrations that stopped by themselves; none where it was fewer than two."""
        found = np.unique(self.walk[self.stop[self.chosen] & ~self.corrected])
        return np.asarray(found if len(found) > 1 else found[:0], np.int64)

    @cached_property
    def certain(self) -> bool:
        return len(self.after) == len(self.rows)

    def once(self) -> None:
        """Demonstrations that show the same say it once: they are left out together, and share their evidence."""
        known: dict[bytes, int] = {}
        same = np.zeros(len(self.paths), np.int64)
        for d in range(len(self.paths)):
            mine = self.demo == d
            rows = mine[self.group]
            key = self.after[rows[self.alternative]].tobytes() + self.paths[d].tobytes()
            same[d] = known.setdefault(key + (self.chosen[mine] - np.flatnonzero(rows)[:1]).tobytes(), len(known))
        self.same = same
        """[D] the kind of each demonstration: those of one kind are the same."""
        self.kinds = len(known)
        corrections = len(self.replayed.corrections)
        of = np.append(same, self.kinds + np.arange(corrections))
        self.demo = of[self.demo] if self.count else self.demo
        self.folds = min(self.kinds, FOLDS)
        self.fold_of = np.append(np.arange(self.kinds) % FOLDS, np.full(corrections, -1))
        """[kinds, corrections] the fold in which a kind is left out; -1: none."""
        self.fold = self.fold_of[self.demo] if self.count else self.demo
        """[C]"""
        self.copies = self._copies()
        """[C] how often the same was chosen in the same state: a coincidence is one, however often it is shown."""

    def _copies(self) -> Floats:
        first = np.append(self.first, len(self.after))
        keys = [
            (int(at), self.after[first[k] : first[k + 1]].tobytes()) for at, k in zip(self.at, self.chosen, strict=True)
        ]
        found = Counter(keys)
        return np.array([found[key] for key in keys], np.float64)

    def representative(self, kind: int) -> int:
        """The first demonstration of a kind."""
        return int(np.flatnonzero(self.same == kind)[0])

    @cached_property
    def effects(self) -> Effects:
        return Effects(self.at[self.group], self.after, self.odds, self.first)

    def change(self, columns: Floats) -> Floats:
        """What each alternative changes [N, F], from columns over the states [S, F]."""
        return self.effects.change(columns)

    def mean(self, column: Floats) -> Floats:
        """The mean of a column [S] after each alternative [N]; NaN where it may be missing."""
        found = column[self.after]
        return found if self.certain else np.add.reduceat(found * self.odds, self.first)

    def entered(self, columns: Bools) -> Bools:
        """Which alternatives risk to make something true that is not [N, F]."""
        new = columns[self.after] & ~columns[self.at[self.group]][self.alternative]
        if not self.certain:
            new = np.logical_or.reduceat(new & (self.odds[:, None] > RISK), self.first, axis=0)
        return np.asarray(new & ~self.stop[:, None], np.bool_)

    def check(self) -> None:
        """There must be a choice to learn from."""
        if not self.count:
            raise LearningError(
                "no demonstration has a choice in it: every step shown was the only one possible, or there are no steps"
            )
