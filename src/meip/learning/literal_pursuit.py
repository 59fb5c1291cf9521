"""Algorithm 2 as printed: level by level, the concept with the largest gain in the posterior, while it exceeds epsilon.

Concepts that share a slot exclude each other at every level. A concept that says what simpler ones say replaces them
where the posterior is the larger for it. Nothing is taken at a loss, no level is left out, and neither tau nor random
plans have a say. With the labels as printed, every candidate is learned anew by Algorithm 1, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from meip.concepts.check import slot
from meip.concepts.language import Concept, Primitive, walk
from meip.learning.candidates import Bundle
from meip.learning.learner import literal_rounds
from meip.learning.pursuit_run import LEAST_GAIN, Pursued, PursuitRun, bundle_text

__all__ = ["LiteralRun"]


class LiteralRun(PursuitRun):
    """One run of the pursuit as printed."""

    def _level(self, level: int) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        fresh: list[Bundle] = [(c,) for c in self.candidates[level]]
        yield from self._greedy(f"level {level}", lambda: fresh)
        if self.settings.order == "closure":
            yield from self._close(level)

    def _enough(self, level: int) -> bool:
        return False

    def _simplify(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        return iter(())

    def _free(self, stage: str, bundles: list[Bundle]) -> list[Bundle]:
        """From slots that are not taken, at every level; what a concept would replace does not take its slot."""
        found = []
        for bundle in bundles:
            stays = set(self.current.concepts) - set(self._overlapping(bundle[0]))
            if bundle[0] not in self.current.concepts and slot(bundle[0]) not in {slot(c) for c in stays}:
                found.append(bundle)
        return found

    def _overlapping(self, concept: Concept) -> list[Concept]:
        """Simpler concepts that were taken and speak of nothing that this one does not speak of."""
        mine = _primitives(concept)
        return [
            c for c in self.current.concepts if c.complexity < concept.complexity and _primitives(c) <= mine
        ]  # fmt: skip

    def _trials(self, bundles: Sequence[Bundle]) -> list[Pursued]:
        """Each candidate beside what was taken, or in place of the simpler ones: whichever has the larger posterior."""
        found = []
        for bundle in self._promising(bundles):
            best = self._fitted((*self.current.concepts, *bundle))
            for replaced in self._replaceable(bundle[0]):
                rest = [c for c in self.current.concepts if c not in replaced]
                other = self._fitted((*rest, *bundle))
                best = other if other.key[1] > best.key[1] + LEAST_GAIN else best
            found.append(best)
        return found

    def _replaceable(self, concept: Concept) -> list[list[Concept]]:
        """Sets of simpler concepts that it may replace: each alone, and all of them."""
        simpler = self._overlapping(concept)
        return [[c] for c in simpler] + ([simpler] if len(simpler) > 1 else [])

    def _fitted(self, concepts: Sequence[Concept]) -> Pursued:
        if self.settings.objective != "svm-literal":
            return self._pursued(concepts, self.study.fit(concepts))
        *_, last = literal_rounds(self.study, concepts)
        return self._pursued(concepts, last)

    def _best(self, stage: str, tried: Sequence[Pursued]) -> Pursued | None:
        """The largest gain in the posterior, if it is above the threshold."""
        best = max(tried, key=lambda found: found.key[1], default=None)
        least = max(self.settings.threshold, LEAST_GAIN)
        return best if best is not None and best.key[1] - self.current.key[1] > least else None

    def _accept(self, found: Pursued) -> None:
        self.current = found
        if not self.study.exact:
            self.study.grow(found.trial.utility)
            self.current = self._fitted(found.concepts)

    def _finish(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        yield self.current, self._info("done", 0)

    def _judge(self, stage: str, found: Pursued, best: Pursued | None) -> None:
        gain = found.key[1] - self.current.key[1]
        if found is best:
            reason = "the posterior grows most by it"
        elif best is not None:
            reason = "another candidate was better"
        elif gain > LEAST_GAIN:
            reason = f"its gain is not above the threshold, {self.settings.threshold:g}"
        else:
            reason = "the posterior does not grow"
        fresh = self._fresh(found)
        self._note(stage, bundle_text(fresh), found is best, gain, reason, found.key[0])
        for gone in self.current.concepts if found is best else ():
            if gone not in found.concepts:
                self._note(stage, str(gone), False, gain, f"replaced by {bundle_text(fresh)}", found.key[0])


def _primitives(concept: Concept) -> set[str]:
    return {node.name for node in walk(concept) if isinstance(node, Primitive)}
