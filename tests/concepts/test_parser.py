"""Text to concepts and back, and errors that point at the place."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from random_concepts import concepts, terms

from meip.base.errors import ConceptError
from meip.concepts import operations
from meip.concepts.check import kind, signature, slot
from meip.concepts.language import MAX_DEPTH, Concept, Conjunction, Primitive, Quantified, Restriction, Term, exactly
from meip.concepts.operations import Operation, register_operation
from meip.concepts.parser import parse_concept, parse_term
from meip.model.domain import Domain, function, predicate

BLOCKS = Domain(
    "blocks",
    ("block", "table"),  # type: ignore[arg-type]
    (
        predicate("on", "block", "block"),
        predicate("clear", "block"),
        predicate("at", "block", "table"),
        predicate("holding"),
        function("weight", "block"),
        predicate("between", "block", "block", "table"),
    ),
).with_goals()

OPERATIONS = (
    *(("and", 2), ("or", 2), ("implies", 2), ("=", 2), ("<=", 2), ("+", 2), ("-", 2), ("not", 1), ("and", 3)),
    *(("min", 2), ("max", 3), ("table", 2), ("initial", 1), ("+", 3)),
    *(("my ratio", 2), ("power", 2), ("soft", 1), ("xor", 2)),
)


@pytest.fixture(autouse=True, scope="module")
def users_operations() -> Iterator[None]:
    """Operations of a user, with a word, a sign, a prefix and only brackets."""
    before = dict(operations._OPERATIONS)
    for name, arity, symbol, precedence, right in (
        ("my ratio", (2, 2), None, 0, False),
        ("power", (2, 2), "^", 50, True),
        ("soft", (1, 1), "~", 40, False),
        ("xor", (2, 2), "xor", 20, False),
    ):
        register_operation(Operation(name, arity, lambda kinds: "real", np.add, symbol, precedence, right))
    yield
    operations._OPERATIONS.clear()
    operations._OPERATIONS.update(before)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(concepts(OPERATIONS, terms()))
def test_every_concept_parses_back_from_its_text(concept: Concept) -> None:
    assert parse_concept(str(concept)) == concept


@settings(max_examples=150, deadline=None, derandomize=True)
@given(terms())
def test_every_term_parses_back_from_its_text(term: Term) -> None:
    assert parse_term(str(term)) == term


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("not a and b", "(not a) and b"),
        ("not a . b", "(not a) . b"),
        ("a and b . c", "a and (b . c)"),
        ("some r.p and q", "(some r.p) and q"),
        ("some r.not p", "some r.(not p)"),
        ("some r* . p . q", "(some (r*).p) . q"),
        ("not a*", "not (a*)"),
    ],
)
def test_terms_bind_as_documented(text: str, meaning: str) -> None:
    assert parse_term(text) == parse_term(meaning)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("not some(a) and some(b)", "(not some(a)) and some(b)"),
        ("some(a) or some(b) and some(c)", "some(a) or (some(b) and some(c))"),
        ("count(a) + count(b) = 4 and some(c)", "((count(a) + count(b)) = 4) and some(c)"),
        ("some(a) implies some(b) implies some(c)", "some(a) implies (some(b) implies some(c))"),
        ("count(a) - 1 - count(b)", "(count(a) - 1) - count(b)"),
        ("all(a | U)", "all(a)"),
    ],
)
def test_operations_bind_as_documented(text: str, meaning: str) -> None:
    assert parse_concept(text) == parse_concept(meaning)


def test_the_tree_of_a_concept_is_the_one_that_is_written() -> None:
    clear = Primitive("clear")
    assert parse_concept("all(clear | some on.U) ") == Quantified(
        "all", clear, Restriction("some", Primitive("on"), None)
    )
    assert parse_term("clear and `two words`") == Conjunction(clear, Primitive("two words"))
    assert parse_concept("count(clear)=4") == exactly(Quantified("count", clear), 4)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("all(claer)", "claer", "did you mean 'clear'"),
        ("some(clear) and not alll(on)", "alll", "not a concept"),
        ("some(on | clear)", "clear", "a scope needs the same classes"),
        ("count(on and clear)", "clear", "`and` needs the same classes"),
        ("max(clear | on)", "on", "a scope needs the same classes"),
        ("some(weight)", "weight", "real-valued function"),
        ("some(at*)", "at", "two arguments of one class"),
        ("some(inverse(at) and on)", "on", "`and` needs the same classes"),
        ("some(permute(between, 1 1 3))", "permute(between, 1 1 3)", "each argument once"),
        ("all(some at.clear)", "clear", "last argument of at is of class table"),
        ("some(at . on)", "on", "last class of its left side"),
        ("some(same(on, at))", "at", "same needs the same classes"),
        ("count(clear) and some(on)", "count(clear) and some(on)", "needs boolean operands"),
        ("table[mean(weight), some(on)]", "table[mean(weight), some(on)]", "booleans and counts"),
        ("imitial[some(on)]", "imitial", "did you mean 'initial'"),
        ("min[count(on)]", "min[count(on)]", "takes 2 or more operands, got 1"),
        ("some(clear", "", "expected `)`"),
        ("some()", ")", "expected a predicate"),
        ("clear", "clear", "alone is not a concept"),
        ("count(clear) -4", "-4", "minus is written with a space"),
        ("some(clear) some(on)", "some", "unexpected `some`"),
        ("some(clear))", ")", "unexpected `)`"),
        ("some(all on)", ")", "expected `.`"),
        ("some(some not on.U)", "not", "parentheses"),
        ("some(`on)", "`", "backtick"),
        ("count(clear) = 1e999", "1e999", "finite"),
        ("some(permute(on, 0 1))", "0", "place"),
        ("§", "§", "cannot read"),
        ("", "", "expected a concept"),
        ("some(and)", "and", "backticks"),
    ],
)
def test_errors_show_the_text_with_carets_under_the_place(text: str, place: str, message: str) -> None:
    with pytest.raises(ConceptError) as caught:
        parse_concept(text, BLOCKS)
    said, line, carets = str(caught.value).split("\n")
    assert message in said
    assert line == "  " + text
    start = carets.index("^") - 2
    assert set(carets[start + 2 :]) == {"^"}
    if place:
        assert text[start : start + len(carets) - start - 2] == place
    else:
        assert start == len(text)


def test_an_error_on_a_later_line_shows_that_line() -> None:
    with pytest.raises(ConceptError) as caught:
        parse_concept("some(clear)\n  and some(oon)", BLOCKS)
    assert str(caught.value).split("\n")[1:] == ["    and some(oon)", "             ^^^"]


@pytest.mark.parametrize(
    "text", ["(" * 5000, "not " * 5000, "some(" + "not " * 5000, "some(" + "(" * 5000, "min[" * 5000]
)
def test_deep_nesting_is_a_concept_error(text: str) -> None:
    with pytest.raises(ConceptError, match="nested"):
        parse_concept(text)


@pytest.mark.parametrize(
    "text", ["some(" + "p and " * 5000 + "p)", " + ".join(["1"] * 5000), "some(p" + "*" * 5000 + ")"]
)
def test_long_chains_are_a_concept_error(text: str) -> None:
    with pytest.raises(ConceptError, match="nested"):
        parse_concept(text)


@pytest.mark.parametrize(
    "step", ["p and (@)", "not (p and @)", "inverse(@)", "some r.(@)", "some (@).p", "(@)*", "(@) . p"]
)
def test_the_deepest_terms_still_parse_back(step: str) -> None:
    text = "p"
    while True:
        try:
            term = parse_term(text)
        except ConceptError:
            break
        assert parse_term(str(term)) == term
        text = step.replace("@", str(term))
    assert term.depth >= MAX_DEPTH - 2


def test_kinds_and_slots() -> None:
    def read(text: str) -> Concept:
        return parse_concept(text, BLOCKS)

    kinds = {
        "all(clear)": "boolean",
        "count(on)": "count",
        "mean(weight)": "real",
        "mean(clear)": "real",
        "count(on) = 3": "boolean",
        "count(on) - initial[count(on)]": "real",
        "count(on) + count(clear)": "count",
        "table[count(on), some(clear)]": "table",
        "initial[count(on)]": "count",
        "2.5": "real",
    }
    assert {text: kind(read(text), BLOCKS) for text in kinds} == kinds
    slots = [slot(read(t)) for t in ("all(clear)", "some(clear)", "count(clear)", "count(clear) = 4", "not all(clear)")]
    assert len(set(slots)) == 1
    assert slot(read("all(clear | some on.U)")) != slots[0]
    assert slot(read("some(clear) and some(on)")) == slot(read("all(clear) and some(on)"))
    assert slot(read("some(clear) and some(on)")) != slot(read("some(clear) and not some(on)"))


def test_signatures_follow_the_grammar() -> None:
    expected = {
        "on": (("block", "block"), False),
        "weight": (("block",), True),
        "some on.clear": (("block",), False),
        "some between.U": (("block", "block"), False),
        "on . at": (("block", "table"), False),
        "permute(between, 2 1 3)": (("block", "block", "table"), False),
        "within(at_goal, at)": (("block",), False),
        "holding": ((), False),
    }
    assert {text: signature(parse_term(text, BLOCKS), BLOCKS) for text in expected} == expected
