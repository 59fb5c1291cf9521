"""One run of the pursuit, by our rule: tau first, the posterior second, until the demonstrations are explained.

A set of concepts has a key: the sign-tau of the demonstrations, and the posterior J - kappa * (complexity and extra
parameters) - constant_cost * named constants. Every decision is recorded, with its reason.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from meip.base.arrays import Floats
from meip.concepts.bank import ConceptBank
from meip.concepts.check import slot
from meip.concepts.composites import composites
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept, constants
from meip.learning.candidates import SAME_TAU, Bundle, Candidates
from meip.learning.checkpoint import Decision
from meip.learning.fitting import Objective, Study, Trial
from meip.learning.options import Order
from meip.learning.selection import precedence
from meip.search.pool import relaxed_log_odds
from meip.utility.ordering import relaxed_tau
from meip.utility.terms import UtilityTerm, features

__all__ = ["LEAST_GAIN", "Key", "Pursued", "PursuitRun", "Settings", "bundle_text"]

DEFAULT_LEVEL = 3
FIRST = ("trial", "level 1")
Key = tuple[float, float]
LEAST_GAIN = 1e-6


class Settings(Protocol):
    """What a run reads of the estimator that started it."""

    grammar: Grammar | None
    objective: Objective
    kappa: float
    constant_cost: float
    threshold: float
    tolerance: float
    order: Order
    avoid: bool | None
    surprise: float
    max_concepts: int
    screen: int
    share: float
    seed: int


@dataclass(frozen=True)
class Pursued:
    """What the pursuit carries on: the concepts so far, fitted."""

    concepts: tuple[Concept, ...]
    trial: Trial
    key: Key


class PursuitRun:
    """One run of the pursuit."""

    def __init__(self, settings: Settings, study: Study) -> None:
        self.settings, self.study = settings, study
        self.pick = Candidates(study, settings.tolerance)
        self.decisions: list[Decision] = []
        self.current = self._pursued((), study.fit(()))
        self.atoms: list[Concept] = []  # every relevant candidate so far, for order concepts
        self.candidates: dict[int, list[Concept]] = {}
        self.steady: set[Concept] = set()
        self.seen: list[Concept] = []  # every concept of the levels so far, for what to avoid
        self.grammar = settings.grammar or Grammar.paper(max_level=DEFAULT_LEVEL)
        self.operands: dict[int, list[Concept]] = {}  # of composites, by level

    def run(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        bank = ConceptBank(self.study.training.domain, self.grammar)
        level = 0
        for level, concepts, info in bank.levels():
            if info.stopped:
                self._remark(f"level {level}", False, info.stopped)
                break
            considered = self._considered(level, concepts)
            if self.grammar.composites:
                considered = [*considered, *self._composites(level, considered)]
            if level == 1 and self.pick.tolerance > 0:
                yield from self._set_aside(considered)
            self.candidates[level] = self.pick.relevant(considered, self.atoms)
            self.atoms += self.candidates[level]
            self.steady |= self.pick.steady(self.candidates[level])
            self.seen += concepts
            yield from self._level(level)
            if self._enough(level):
                break
        if level > 1:
            yield from self._simplify()
        yield from self._finish()

    def _set_aside(self, concepts: Sequence[Concept]) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """A trial pursuit finds the demonstrations that do not fit the others; the pursuit proper goes without them."""
        candidates = self.pick.relevant(concepts, ())
        self.steady = self.pick.steady(candidates)
        yield from self._greedy("trial", lambda: [(c,) for c in candidates])
        taus = self.current.trial.taus
        most = int(self.pick.tolerance * len(taus) + 1e-9)
        odd = [k for k in np.argsort(taus, kind="stable")[:most].tolist() if taus[k] < 1 - SAME_TAU]
        for k in odd:
            self._remark("trial", True, f"demonstration {k + 1} is set aside: its tau is {taus[k]:.3f}")
        if odd:
            self.study.set_aside(odd)
            self.pick.tolerance = 0.0
        self.current = self._pursued((), self.study.fit(()))

    def _level(self, level: int) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """The concepts of one level, then the order of what was chosen.

        From level 2 on, a rule "a before b" competes with single concepts: it brings a and b along.
        """
        with_rules = level > 1 and self.settings.order != "none"
        fresh = self.candidates[level]

        def bundles() -> list[Bundle]:
            return [(c,) for c in fresh] + (self._rules() if with_rules else [])

        yield from self._greedy(f"level {level}", bundles)
        if self.settings.order == "closure":
            yield from self._close(level)
        if self.settings.avoid or (self.settings.avoid is None and self._chancy()):
            yield from self._greedy("avoid", lambda: [(c,) for c in self.pick.shunned(self.seen)])

    def _enough(self, level: int) -> bool:
        """Are the demonstrations explained, that is, rarely matched by a plan made at random?"""
        share = self._share_as_good()
        if share > self.settings.surprise:
            return False
        reason = f"level {level} explains the demonstrations: {share:.1%} of random plans do as well"
        self._remark(f"level {level}", True, reason)
        return True

    def _share_as_good(self) -> float:
        """The share of P0 whose u is at least that of the demonstrations, averaged over them."""
        if not self.study.pools or not self.current.concepts:
            return 0.0 if self.current.concepts else 1.0
        ranking = self.study.ranking(self.current.trial.utility)
        shares = []
        for case, pool in zip(self.study.training.cases, self.study.pools, strict=True):
            g = ranking(pool.graph)
            u = relaxed_log_odds(pool.plans, g)
            weight = np.exp(pool.log_weight)
            for shown in case.shown:
                own = 2.0 * (len(shown.states) - 1) * relaxed_tau(g[list(shown.states), 0])
                shares.append(float(weight[u >= own - 1e-9].sum() / weight.sum()))
        return float(np.mean(shares))

    def _chancy(self) -> bool:
        """Does chance play a part in the worlds shown?"""
        return any(bool((graph.arrays().outcome_count > 1).any()) for graph in self.study.training.graphs)

    def _considered(self, level: int, concepts: Sequence[Concept]) -> Sequence[Concept]:
        """All concepts, or the share of them that this pursuit looks at."""
        if self.settings.share >= 1:
            return concepts
        drawn = np.random.default_rng([self.settings.seed, level]).random(len(concepts)) < self.settings.share
        return [concept for concept, kept in zip(concepts, drawn, strict=True) if kept]

    def _composites(self, level: int, atomic: Sequence[Concept]) -> list[Concept]:
        """P(C', C'') and F(C', C'') of this level, where they are not too many."""
        self.operands[level] = self.pick.operands(atomic)
        most = self.grammar.max_concepts
        every = composites(level, self.operands, self.study.training.domain)
        found = list(every if most is None else itertools.islice(every, most + 1))
        if most is None or len(found) <= most:
            self.operands[level] += found
            return list(found)
        self._remark(f"level {level}", False, f"there are more than {most} composites (max_concepts): none is tried")
        return []

    def _rules(self) -> list[Bundle]:
        return self.pick.rules(self.atoms, self.current.concepts, self._slopes(), self.settings.screen)

    def _slopes(self) -> Floats:
        """dJ/dg of every row for the current concepts."""
        terms = self.current.trial.utility.terms
        values, missing = self.study.training.matrix(self.current.concepts)
        return self.study.objective.slopes(features(terms, values, missing), self.current.trial.fit.weights)

    # --- selection ---

    def _greedy(self, stage: str, bundles: Callable[[], list[Bundle]]) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """Add the best bundle of concepts (at a level: from free slots) while there is a reason to."""
        while len(self.current.concepts) < self.settings.max_concepts:
            left = self._free(stage, bundles())
            tried = self._trials(left)
            best = self._best(stage, tried)
            for found in tried:
                self._judge(stage, found, best)
            if best is None:
                break
            self._accept(best)
            yield self.current, self._info(stage, len(tried))

    def _free(self, stage: str, bundles: list[Bundle]) -> list[Bundle]:
        """Those that are new; at level 1 from slots that are not taken."""
        known = set(self.current.concepts)
        taken = {slot(c) for c in known} if stage in FIRST else set()
        return [b for b in bundles if not known & set(b) and not taken & {slot(c) for c in b}]

    def _best(self, stage: str, tried: Sequence[Pursued]) -> Pursued | None:
        """Of the candidates that raise the demonstrations' tau, the one with the largest posterior.

        Where none does, the posterior alone counts, as long as random plans still do as well as the demonstrations.
        Within a slot tau comes first: it tells "some", true of all demonstrations, from "exactly 1", true of a few.
        Between slots the posterior does: it tells what was meant from what changed by the way. What only ever came
        true (or false) in the demonstrations goes before what went to and fro.
        """
        tau, posterior = self.current.key
        raising = self._raising(tried) if stage.startswith(("level", "trial")) else []
        if raising and stage in FIRST:
            return max(raising, key=lambda found: found.key[1])
        growing = [f for f in tried if f.key[0] >= tau - SAME_TAU and f.key[1] > posterior + LEAST_GAIN]
        wanted = growing or raising
        if not wanted or (stage != "avoid" and self._share_as_good() <= self.settings.surprise):
            return None
        return max(wanted, key=lambda found: found.key[1])

    def _raising(self, tried: Sequence[Pursued]) -> list[Pursued]:
        """The best of each slot, if it raises tau; if some of them move one way only, then those."""
        leading: dict[Any, Pursued] = {}
        for found in tried:
            place = slot(found.concepts[-1])
            if place not in leading or found.key > leading[place].key:
                leading[place] = found
        raising = [found for found in leading.values() if found.key[0] > self.current.key[0] + SAME_TAU]
        return [found for found in raising if found.concepts[-1] in self.steady] or raising

    def _trials(self, bundles: Sequence[Bundle]) -> list[Pursued]:
        """Fit the current concepts with each bundle; of many, only those that the gradient of J finds promising."""
        if not bundles:
            return []
        base = self.current.concepts
        parts = self._parts((*base, *(c for bundle in bundles for c in bundle)))
        sets = [(*base, *bundle) for bundle in self._promising(bundles, parts)]
        candidates = []
        for concepts in sets:
            terms, tables = zip(*(parts[c] for c in concepts), strict=True)
            candidates.append((terms, tables))
        fitted = self.study.fit_many(candidates)
        return [self._pursued(concepts, trial) for concepts, trial in zip(sets, fitted, strict=True)]

    def _parts(self, concepts: Sequence[Concept]) -> dict[Concept, tuple[UtilityTerm, Floats]]:
        """Each concept as a term, and its features."""
        distinct = list(dict.fromkeys(concepts))
        values, missing = self.study.training.matrix(distinct)
        found = {}
        for k, concept in enumerate(distinct):
            term = self.study.term(concept, values[:, k], missing[:, k])
            found[concept] = (term, features([term], values[:, k : k + 1], missing[:, k : k + 1]))
        return found

    def _promising(
        self, bundles: Sequence[Bundle], parts: Mapping[Concept, tuple[UtilityTerm, Floats]] | None = None
    ) -> Sequence[Bundle]:
        """Of many single concepts, those along which J rises most."""
        single = [bundle for bundle in bundles if len(bundle) == 1]
        if len(single) <= self.settings.screen:
            return bundles
        known = parts or self._parts([c for (c,) in single])
        slopes = self._slopes()
        pull = np.array([np.abs(known[bundle[0]][1].T @ slopes).max() for bundle in single])
        kept = np.sort(np.argsort(-pull, kind="stable")[: self.settings.screen])
        return [single[k] for k in kept] + [bundle for bundle in bundles if len(bundle) > 1]

    def _close(self, level: int) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """Precedence closure: require what always came first to come first; one refit."""
        known = set(self.current.concepts)
        wanted = [c for c in self.pick.order_concepts(self.current.concepts) if c not in known]
        if not wanted:
            return
        found = self._pursued((*self.current.concepts, *wanted), self.study.fit((*self.current.concepts, *wanted)))
        gain = found.key[1] - self.current.key[1]
        grows = found.key[0] >= self.current.key[0] - SAME_TAU and (level == 1 or gain > 0)
        reason = "the one came before the other when it was shown" if grows else "tau or the posterior would fall"
        for concept in wanted:
            self._note("order", str(concept), grows, gain, reason, found.key[0])
        if grows:
            self._accept(found)
            yield self.current, self._info("order", len(wanted))

    def _simplify(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """Drop what the rest makes useless: without it the posterior is no smaller. The least influential first."""
        changed = True
        while changed and len(self.current.concepts) > 1:
            changed = False
            terms = [term for term in self.current.trial.utility.terms if precedence(term.concept)]
            terms.sort(key=lambda term: (term.influence, str(term.concept)))
            for term in terms[: self.settings.screen]:
                rest = tuple(c for c in self.current.concepts if c != term.concept)
                found = self._pursued(rest, self.study.fit(rest))
                if found.key[1] > self.current.key[1] - LEAST_GAIN:
                    gain = found.key[1] - self.current.key[1]
                    self._note(
                        "simplify", str(term.concept), False, gain, "the others say as much without it", found.key[0]
                    )
                    self.current = found
                    changed = True
                    yield self.current, self._info("simplify", len(terms))
                    break

    def _finish(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """A last round of samples and a last fit, where the pools are not exact."""
        if not self.study.exact:
            self.study.grow(self.current.trial.utility)
        self.current = self._pursued(self.current.concepts, self.study.fit(self.current.concepts))
        yield self.current, self._info("done", 0)

    # --- bookkeeping ---

    def _pursued(self, concepts: Sequence[Concept], trial: Trial) -> Pursued:
        kappa, per_constant = self.settings.kappa, self.settings.constant_cost
        cost = sum(  # a curve costs as much as its parameters
            kappa * (max(term.concept.complexity, 1) + term.size - 1) + per_constant * len(constants(term.concept))
            for term in trial.utility.terms
        )
        return Pursued(tuple(concepts), trial, (trial.tau(self.pick.tolerance), trial.fit.objective - cost))

    def _accept(self, found: Pursued) -> None:
        self.current = found
        if not self.study.exact or self.settings.objective != "likelihood":
            self.study.grow(found.trial.utility)
            self.current = self._pursued(found.concepts, self.study.fit(found.concepts))

    def _judge(self, stage: str, found: Pursued, best: Pursued | None) -> None:
        tau_grows, gain = found.key[0] > self.current.key[0] + SAME_TAU, found.key[1] - self.current.key[1]
        if found is best:
            reason = "it orders the demonstrations better" if tau_grows else "the posterior grows"
        elif best is not None:
            reason = "another candidate was better"
        elif gain > LEAST_GAIN:
            reason = "not needed: the demonstrations are explained already"
        else:
            reason = "the posterior does not grow"
        self._note(stage, bundle_text(self._fresh(found)), found is best, gain, reason, found.key[0])

    def _fresh(self, found: Pursued) -> Bundle:
        return tuple(c for c in found.concepts if c not in self.current.concepts)

    def _remark(self, stage: str, taken: bool, reason: str) -> None:
        """A note about a stage as a whole."""
        self._note(stage, "", taken, 0.0, reason, self.current.key[0])

    def _note(self, stage: str, concept: str, taken: bool, gain: float, reason: str, tau: float = 0.0) -> None:
        self.decisions.append(Decision(len(self.decisions) + 1, stage, concept, taken, tau, gain, reason))

    def _info(self, stage: str, tried: int) -> dict[str, Any]:
        return {
            "stage": stage,
            "tried": tried,
            "concepts": [str(c) for c in self.current.concepts],
            "tau": self.current.key[0],
            "objective": self.current.trial.fit.objective,
            "decisions": tuple(self.decisions),
        }


def bundle_text(bundle: Bundle) -> str:
    """The concepts of a candidate, as decisions name them."""
    return "; ".join(str(c) for c in bundle)
