"""English readings of concepts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from random_concepts import concepts, terms

from meip.base.errors import ConceptError
from meip.concepts.check import kind
from meip.concepts.english import english, forbidden
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.model.domain import Domain, EntityClass, function, predicate

DOMAIN = Domain(
    "both",
    (
        EntityClass("torch", "torches"),
        EntityClass("clay"),
        EntityClass("bamboo"),
        EntityClass("block"),
        EntityClass("table"),
    ),
    (
        predicate("torch@1", "torch", phrase="{0} is picked at stage 1"),
        predicate("bamboo@2", "bamboo", phrase="{0} is picked at stage 2"),
        predicate("clay@3", "clay", phrase="{0} is picked at stage 3"),
        predicate("on", "block", "block"),
        predicate("at", "block", "table"),
        predicate("clear", "block"),
        predicate("held", "block", phrase="the arm holds {0}"),
        predicate("outweighs", "block", "block", phrase="{0} weighs more than {1}"),
        predicate("sunny", phrase="the sun shines"),
        predicate("arm-empty"),
        function("weight", "block"),
        function("distance", "block", "block", phrase="the distance from {0} to {1}"),
    ),
).with_goals(["on", "clear", "held"])

READINGS = {
    "all(torch@1)": "all torches are picked at stage 1",
    "some(torch@1)": "some torch is picked at stage 1",
    "count(torch@1)": "the number of torches that are picked at stage 1",
    "mean(torch@1)": "the share of torches that are picked at stage 1",
    "not some(torch@1)": "no torch is picked at stage 1",
    "all(not torch@1)": "no torch is picked at stage 1",
    "count(clay@3) = 4": "exactly 4 clays are picked at stage 3",
    "count(clay@3) = 1": "exactly 1 clay is picked at stage 3",
    "count(clay@3) = 0": "no clay is picked at stage 3",
    "2 <= count(clay@3)": "at least 2 clays are picked at stage 3",
    "not (count(clay@3) = 4)": "not exactly 4 clays are picked at stage 3",
    "some(bamboo@2) and not all(torch@1)": "some bamboo is picked at stage 2 and not all torches are picked at stage 1",
    "all(clear | not held)": "all blocks that the arm does not hold are clear",
    "some(held)": "the arm holds some block",
    "not some(held)": "the arm holds no block",
    "not all(held | clear)": "the arm does not hold all blocks that are clear",
    "count(held)": "the number of blocks that the arm holds",
    "some(clear and not held)": "some block is clear and the arm does not hold it",
    "count(clear | some on.U)": "the number of blocks that are clear among the blocks that are on some block",
    "some(on)": "some block is on some block",
    "not some(outweighs)": "no block weighs more than any block",
    "count(at)": "the number of pairs of a block and a table where the block is at the table",
    "count(on and on_goal)": "the number of pairs of blocks where the first is on the second as in the goal",
    "count(on_goal and not on)": "the number of pairs of blocks where the first is on the second in the goal but not "
    "yet",
    "count(on_goal)": "the number of pairs of blocks where the first is on the second in the goal",
    "count(on*)": "the number of pairs of blocks where the first is directly or indirectly on the second",
    "count(same(on, on_goal))": "the number of blocks that are on exactly the blocks that the goal asks for",
    "all(within(on_goal, on))": "all blocks are on all blocks that the goal asks for",
    "all(all on.clear)": "all blocks are on only blocks that are clear",
    "some(not some on.clear)": "some block is on no block that is clear",
    "count(on . at)": "the number of pairs of a block and a table where the block is on some block that is at "
    "the table",
    "some(some inverse(on).U)": "some block is such that some block is on it",
    "all(not outweighs)": "in all pairs of blocks, the first does not weigh more than the second",
    "some(sunny)": "the sun shines",
    "not some(sunny)": "the sun does not shine",
    "some(arm-empty)": "arm empty is the case",
    "max(weight | clear)": "the greatest weight of any block that is clear",
    "mean(weight)": "the average weight of all blocks",
    "min(distance)": "the least distance from any block to any block",
    "max(clear | held)": "1 if some block that the arm holds is clear, else 0",
    "min(clear)": "1 if all blocks are clear, else 0",
    "max(inverse(distance) | on)": "the greatest distance from the second to the first, among pairs of blocks where "
    "the first is on the second",
    "count(clear) - initial[count(clear)]": "the change in the number of blocks that are clear since the start",
    "table[count(clear), some(sunny)]": "the combination of the number of blocks that are clear and whether the sun "
    "shines",
    "(some(sunny) or some(clear)) and some(held)": "either the sun shines or some block is clear, "
    "and the arm holds some block",
    "some(sunny) implies all(clear)": "if the sun shines then all blocks are clear",
}


@pytest.mark.parametrize("text", READINGS)
def test_a_reading_is_good_english(text: str) -> None:
    assert english(parse_concept(text, DOMAIN), DOMAIN) == READINGS[text]


NAMES = tuple(f.name for f in DOMAIN.fluents)
OPERATIONS = (
    ("and", 2),
    ("or", 2),
    ("not", 1),
    ("=", 2),
    ("-", 2),
    ("initial", 1),
    ("table", 2),
    ("min", 3),
    ("<=", 2),
    ("max", 2),
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(concepts(OPERATIONS, terms(NAMES)))
def test_every_concept_that_fits_the_domain_has_a_reading(concept: Concept) -> None:
    try:
        kind(concept, DOMAIN)
    except ConceptError:
        with pytest.raises(ConceptError):
            english(concept, DOMAIN)
        return
    for text in (english(concept, DOMAIN), forbidden(concept, DOMAIN)):
        assert text.strip() == text and "  " not in text
        assert "\0" not in text and "{" not in text
