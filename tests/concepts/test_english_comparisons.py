"""English readings of comparisons, of how far numbers are apart, and of what is never done."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, given, strategies as st

from meip.concepts.comparisons import HOLDS, Relation, how_many, how_much, number, percentage
from meip.concepts.english import english, forbidden
from meip.concepts.parser import parse_concept
from meip.model.domain import Domain, EntityClass, function, predicate

DOMAIN = Domain(
    "nursery",
    (EntityClass("toy"), EntityClass("box", "boxes")),
    (
        predicate("inbox", "toy", phrase="{0} is in the box"),
        predicate("red", "toy"),
        predicate("blue", "toy"),
        predicate("held", "toy", phrase="the child holds {0}"),
        predicate("closed", phrase="the box is closed"),
        predicate("on", "box", "box"),
        function("load"),
        function("limit"),
        function("weight", "toy"),
    ),
)
INBOX, RED = "toys that are in the box", "toys that are red"

READINGS = {
    # counts and numbers
    "not (count(inbox) <= 3)": "more than 3 toys are in the box",
    "not (count(inbox) <= 1)": "more than 1 toy is in the box",
    "not (count(inbox) <= 0)": "some toy is in the box",
    "not (count(inbox) <= 2.5)": "at least 3 toys are in the box",
    "not (2 <= count(inbox))": "fewer than 2 toys are in the box",
    "not (1 <= count(inbox))": "no toy is in the box",
    "1 <= count(inbox)": "some toy is in the box",
    "not (count(inbox) = 0)": "some toy is in the box",
    "0 <= count(inbox)": f"the number of {INBOX} is at least 0",
    "not (count(inbox | red) <= 3)": f"more than 3 {RED} are in the box",
    "not (count(held) <= 3)": "the child holds more than 3 toys",
    "not (1 <= count(held))": "the child holds no toy",
    "not (count(held) = 2)": "the child does not hold exactly 2 toys",
    "not (1 <= mean(held | red))": f"the child does not hold all {RED}",
    "not (count(on) <= 3)": "in more than 3 pairs of boxes, the first is on the second",
    "not (count(on) = 2)": "not in exactly 2 pairs of boxes, the first is on the second",
    "not (count(closed) <= 0)": "the box is closed",
    "2 <= count(closed)": "the number of times (0 or 1) that the box is closed is at least 2",
    # real values
    "not (mean(load) <= 9.8)": "the load is above 9.8",
    "not (5 <= mean(load))": "the load is below 5",
    "9.8 <= mean(load)": "the load is at least 9.8",
    "mean(load) <= 0.42857142857142855": "the load is at most 0.429",
    "not (mean(load) = 5)": "the load does not equal 5",
    "mean(load) <= mean(limit)": "the load is at most the limit",
    "not (mean(load) <= mean(limit))": "the load is above the limit",
    "not (max(weight | red) <= 2.5)": "the greatest weight of any toy that is red is above 2.5",
    "max[mean(load) - 5.5, 0]": "how far the load is above 5.5",
    "max[5.5 - mean(load), 0]": "how far the load is below 5.5",
    "max[mean(load) - mean(limit), 0]": "how far the load is above the limit",
    # shares
    "mean(blue | inbox)": f"the share of {INBOX} which are blue",
    "mean(held | inbox)": f"the share of toys that the child holds among the {INBOX}",
    "mean(some on.U)": "the share of boxes that are on some box",
    "mean(some on.U | some inverse(on).U)": "the share of boxes that some box is on which are on some box",
    "not (mean(blue | inbox) <= 0.42857)": f"more than 43 % of the {INBOX} are blue",
    "not (0.5 <= mean(blue))": "less than 50 % of the toys are blue",
    "mean(blue) = 0.5": "exactly 50 % of the toys are blue",
    "mean(blue) = 0.42857142857142855": "about 43 % of the toys are blue",
    "not (mean(blue) = 0.5)": "the share of toys that are blue does not equal 50 %",
    "not (mean(blue | inbox) <= 0)": "some toy that is in the box is blue",
    "not (1 <= mean(blue | inbox))": f"not all {INBOX} are blue",
    "1 <= mean(blue | inbox)": f"100 % of the {INBOX} are blue",
    "1 <= mean(blue)": "all toys are blue",
    "not (mean(held | inbox) <= 0.25)": f"the child holds more than 25 % of the {INBOX}",
    "not (mean(on) <= 0.125)": "in more than 12.5 % of the pairs of boxes, the first is on the second",
    "not (mean(closed) <= 0.5)": "the box is closed",
    "max[mean(blue | inbox) - 0.42857, 0]": f"how far the share of {INBOX} which are blue is above 43 %",
    # two counts
    "not (count(inbox) <= count(red))": f"there are more {INBOX} than {RED}",
    "count(inbox) <= count(red)": f"there are at most as many {INBOX} as {RED}",
    "count(inbox) = count(red)": f"there are as many {INBOX} as {RED}",
    "not (count(inbox) = count(red))": f"the numbers of {INBOX} and of {RED} differ",
    "count(inbox) + 1 <= count(red)": f"the number of {INBOX} plus 1 is at most the number of {RED}",
    # how far two numbers are apart
    "not (max[count(inbox) - count(red), count(red) - count(inbox)] <= 1)": f"the numbers of {INBOX} and of {RED} "
    "differ by more than 1",
    "max[count(inbox) - count(red), count(red) - count(inbox)] <= 0": f"the numbers of {INBOX} and of {RED} are equal",
    "max[count(inbox) - count(red), count(red) - count(inbox)]": f"the difference between the number of {INBOX} and "
    f"the number of {RED}",
    "not (max[mean(load) - mean(limit), mean(limit) - mean(load)] <= 0)": "the load and the limit differ",
    "max[mean(blue) - mean(red), mean(red) - mean(blue)] <= 0.1": f"the shares of toys that are blue and of {RED} "
    "differ by at most 10 percentage points",
    "max[count(inbox) - count(red), count(red) - count(blue)]": f"the greatest of the number of {INBOX} minus the "
    f"number of {RED} and the number of {RED} minus the number of toys that are blue",
    # truths
    "some(closed) = 0": "the box is not closed",
    "some(closed) <= all(red)": "if the box is closed then all toys are red",
    "not (some(closed) <= all(red))": "the box is closed and not all toys are red",
    "not (some(closed) = all(red))": "either the box is closed or all toys are red, but not both",
    "some(closed) and not all(inbox | red)": f"the box is closed and not all {RED} are in the box",
}

NEVER = {
    "some(closed) and not all(inbox | red)": f"the box is closed before all {RED} are in the box",
    "not all(inbox | red) and some(closed)": f"the box is closed before all {RED} are in the box",
    "some(closed) and not some(inbox)": "the box is closed before some toy is in the box",
    "some(closed) and not (3 <= count(inbox))": "the box is closed before at least 3 toys are in the box",
    "some(closed) and not (count(inbox) = 3)": "the box is closed before exactly 3 toys are in the box",
    "some(closed) and some(red) and not all(inbox)": "the box is closed and some toy is red before all toys are in the "
    "box",
    "not (count(red) <= 3) and not some(closed)": "more than 3 toys are red before the box is closed",
}
NEVER_AS_ALWAYS = (
    "some(closed)",
    "not some(closed)",
    "not (count(inbox) <= 3)",
    "some(closed) and some(red)",
    "some(closed) and not all(not inbox)",  # not: before no toy is in the box
    "some(closed) and not (count(inbox) = 0)",
    "some(closed) and not (count(inbox) <= 3)",  # not: before at most 3 toys are in the box
    "some(closed) and not all(on | not inverse(on))",  # not: before in all pairs
    "some(closed) and not all(inbox) and not all(red)",  # before which of them?
)


@pytest.mark.parametrize("text", READINGS)
def test_a_comparison_is_good_english(text: str) -> None:
    assert english(parse_concept(text, DOMAIN), DOMAIN) == READINGS[text]


@pytest.mark.parametrize("text", NEVER)
def test_what_is_never_done_too_early_is_read_as_an_order(text: str) -> None:
    assert forbidden(parse_concept(text, DOMAIN), DOMAIN) == NEVER[text]


@pytest.mark.parametrize("text", NEVER_AS_ALWAYS)
def test_whatever_else_is_never_so_is_read_as_it_is(text: str) -> None:
    concept = parse_concept(text, DOMAIN)
    assert forbidden(concept, DOMAIN) == english(concept, DOMAIN)


MEANING = {
    "exactly": HOLDS["="],
    "not exactly": HOLDS["!="],
    "fewer than": HOLDS["<"],
    "less than": HOLDS["<"],
    "at most": HOLDS["<="],
    "more than": HOLDS[">"],
    "at least": HOLDS[">="],
}


def is_true(how: str, value: float, whole: float) -> bool:
    """Independently: is what a quantifier says true where this many (or this share) of the whole are meant?"""
    plain = {"some": value > 0, "no": value == 0, "all": value == whole, "not all": value < whole}
    if how in plain:
        return plain[how]
    found = re.fullmatch(r"(?:([a-z ]+) )?([\d.]+)( % of the)?", how)
    assert found is not None, how
    return MEANING[found[1] or "exactly"](value, float(found[2]) / (100 if found[3] else 1))


@given(st.sampled_from(list(HOLDS)), st.integers(-4, 12), st.integers(0, 7))
def test_how_many_is_true_of_just_the_counts_that_compare_so(relation: Relation, halves: int, count: int) -> None:
    how = how_many(relation, halves / 2)
    assume(how is not None)
    assert how is not None and is_true(how, count, math.inf) == HOLDS[relation](count, halves / 2)


@given(st.sampled_from(list(HOLDS)), st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_how_much_is_true_of_just_the_shares_that_compare_so(
    relation: Relation, eighths: int, share: int, scoped: bool
) -> None:
    how = how_much(relation, eighths / 8, scoped)
    assume(how is not None and how not in ("at most 100 % of the", "at least 0 % of the"))
    assert how is not None and is_true(how, share / 8, 1) == HOLDS[relation](share / 8, eighths / 8)


@given(st.floats(-1e6, 1e6))
def test_numbers_have_few_digits_and_are_near(value: float) -> None:
    text = number(value)
    assert math.isclose(float(text), value, rel_tol=5.1e-3)
    fraction = text.partition(".")[2]
    assert not fraction or len(text.replace(".", "").lstrip("-0").partition("e")[0]) <= 4


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.8, "9.8"), (20.25, "20.25"), (3 / 7, "0.429"), (1234.567, "1235"), (-1.5, "-1.5"), (12345.0, "12345")],
)
def test_numbers_are_rounded_only_where_they_are_long(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(3 / 7, "43 %"), (0.125, "12.5 %"), (0.9999, "99.99 %"), (1 / 300, "0.33 %"), (1.0, "100 %")]
)
def test_percentages_are_short_and_never_all_when_they_are_not(share: float, text: str) -> None:
    assert percentage(share) == text
