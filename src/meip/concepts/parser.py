"""From text to concepts. Errors show the text with a caret under the place.

The syntax (`docs/concepts.md` has a table with examples)::

    concept   operand {symbol operand}             precedence: not > + - > = <= > and > or > implies
    operand   all(T | S)  some(..)  count(..)  max(..)  min(..)  mean(..)  number  name[C, C, ..]  not C  (C)
    term      operand {"and" operand | "." operand}    "." binds tighter than "and"
    operand   not T  some R.T  all R.U  T*  inverse(T)  permute(T, 2 1 3)  same(P, Q)  within(P, Q)  name  `name`  (T)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from meip.base.errors import ConceptError
from meip.base.text import plain
from meip.concepts.check import Misfit, kind, signature
from meip.concepts.language import (
    MAX_DEPTH,
    Aggregated,
    Agreement,
    AtLeast,
    Closure,
    Composite,
    Composition,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Node,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
)
from meip.concepts.operations import KEYWORDS, Operation, operation, operations
from meip.model.domain import Domain

__all__ = ["parse_concept", "parse_term"]

SHOWN = 120  # characters on each side of the place of an error

N = TypeVar("N", bound=Node)
T = TypeVar("T")

MAX_LENGTH = 100_000
_TERM_WORDS = ("not", "and", "some", "all", "inverse", "permute", "same", "within", "U")
_ATOM_WORDS = ("all", "some", "count", "max", "min", "mean")
_AND, _COMPOSE, _PREFIX = 1, 2, 3


class _Token(NamedTuple):
    kind: str
    """"name", "quoted", "number", "sign" or "end"."""
    text: str
    start: int
    end: int

    def is_(self, *texts: str) -> bool:
        """Is this one of these words or signs? A quoted name never is."""
        return self.kind in ("name", "sign") and self.text in texts

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"`{self.text}`"


def parse_concept(text: str, domain: Domain | None = None) -> Concept:
    """The concept that this text writes; checked against the domain if one is given."""
    parser = _Parser(text, domain)
    return parser.whole(parser.concept, lambda concept: kind(concept, domain) if domain else None)


def parse_term(text: str, domain: Domain | None = None) -> Term:
    """The term (predicate, role or function) that this text writes; checked against the domain if one is given."""
    parser = _Parser(text, domain)
    return parser.whole(parser.term, lambda term: signature(term, domain) if domain else None)


def _located(text: str, message: str, start: int, end: int) -> ConceptError:
    """An error with the line of the text it is about, and carets under the place."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)].replace("\t", " ")
    begin, stop = max(0, start - first - SHOWN), start - first + SHOWN  # of a long line, what is round the place
    before, after = "..." * (begin > 0), "..." * (stop < len(line))
    carets = "^" * max(1, min(end - first, len(line), stop) - (start - first))
    indent = " " * (len(before) + start - first - begin)
    return ConceptError(f"{plain(message, 300)}\n  {before}{line[begin:stop]}{after}\n  {indent}{carets}")


def _tokens(text: str) -> list[_Token]:
    signs = sorted({*"()[],.|*", ">="} | {o.symbol for o in operations() if o.symbol}, key=lambda s: (-len(s), s))
    pattern = re.compile(
        r"\s+|(?P<quoted>`[^`]+`)|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d][\w@-]*)|(?P<sign>"
        + "|".join(re.escape(s) for s in signs)
        + ")"
    )
    found, position = [], 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            quote = " (a backtick without its partner)" if text[position] == "`" else ""
            raise _located(text, f"cannot read {text[position]!r} here{quote}", position, position + 1)
        if match.lastgroup is not None:
            word = match.group().strip("`") if match.lastgroup == "quoted" else match.group()
            found.append(_Token(match.lastgroup, word, position, match.end()))
        position = match.end()
    return [*found, _Token("end", "", len(text.rstrip()), len(text.rstrip()) + 1)]


class _Parser:
    """Recursive descent with precedence climbing; remembers where each node was written."""

    def __init__(self, text: str, domain: Domain | None) -> None:
        if not isinstance(text, str):
            raise ConceptError(f"a concept is written as text, not as {type(text).__name__}")
        if len(text) > MAX_LENGTH:
            raise ConceptError(f"a concept of {len(text)} characters is too long (at most {MAX_LENGTH})")
        self.text = text
        self.domain = domain
        self.tokens = _tokens(text)
        self.position = 0
        self.nesting = 0
        self.places: dict[int, tuple[Node, int, int]] = {}
        self.prefixes = {o.symbol: o for o in operations() if o.prefix}
        self.infixes = {o.symbol: o for o in operations() if o.infix(2)}

    def whole(self, rule: Callable[[], N], check: Callable[[N], object]) -> N:
        """All of the text by one rule, then checked."""
        try:
            result = rule()
            if self.token.kind != "end":
                raise self.error(self._leftover())
            check(result)
        except Misfit as error:
            _, start, end = self.places.get(id(error.node), (None, 0, len(self.text)))
            raise _located(self.text, str(error), start, end) from None
        except RecursionError:
            raise ConceptError("this concept is nested too deeply to be read here") from None
        return result

    def _leftover(self) -> str:
        if self.token.kind == "number" and self.token.text.startswith("-"):
            return f"unexpected number `{self.token.text}`: minus is written with a space on both sides"
        return f"unexpected {self.token} after the end of the {'concept' if self.token.text != ')' else 'expression'}"

    # --- tokens ---

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    @property
    def following(self) -> _Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def advance(self) -> _Token:
        token = self.token
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def take(self, *texts: str) -> bool:
        """Step over one of these words or signs if it comes next."""
        if self.token.is_(*texts):
            self.advance()
            return True
        return False

    def expect(self, text: str, why: str) -> None:
        if not self.take(text):
            raise self.error(f"expected `{text}` {why}, found {self.token}")

    def error(self, message: str, token: _Token | None = None) -> ConceptError:
        place = token or self.token
        return _located(self.text, message, place.start, place.end)

    def make(self, start: int, rule: Callable[..., N], *parts: object) -> N:
        """A node, remembering where it was written."""
        end = self.tokens[self.position - 1].end
        try:
            node = rule(*parts)
        except ConceptError as error:
            raise _located(self.text, str(error), start, end) from None
        self.places[id(node)] = (node, start, end)
        return node

    def nested(self, rule: Callable[[], T]) -> T:
        """Apply a rule one level deeper."""
        self.nesting += 1
        if self.nesting > MAX_DEPTH + 1:
            raise self.error(f"nested more than {MAX_DEPTH} deep")
        result = rule()
        self.nesting -= 1
        return result

    # --- concepts ---

    def concept(self, least: int = -(10**9)) -> Concept:
        start = self.token.start
        left = self.nested(self.concept_operand)
        while (symbol := self._infix()) is not None and symbol.precedence >= least:
            self.advance()
            right = self.concept(symbol.precedence + (not symbol.right_associative))
            left = self.composite(start, symbol.name, (left, right))
        return left

    def _infix(self) -> Operation | None:
        return self.infixes.get(self.token.text) if self.token.kind in ("name", "sign") else None

    def composite(self, start: int, name: str, arguments: tuple[Concept, ...]) -> Concept:
        return self.make(start, Composite, name, arguments)

    def concept_operand(self) -> Concept:
        token = self.token
        if token.kind == "number":
            return self.make(self.advance().start, Constant, float(token.text))
        if token.kind != "end" and self.following.is_("["):
            return self.brackets()
        if token.is_(*_ATOM_WORDS) and self.following.is_("("):
            return self.atomic()
        if self.take("("):
            inner = self.concept()
            self.expect(")", "to close the parenthesis")
            return inner
        if token.kind in ("name", "sign") and token.text in self.prefixes:
            self.advance()
            prefix = self.prefixes[token.text]
            return self.composite(token.start, prefix.name, (self.concept(prefix.precedence + 1),))
        raise self.error(self._no_concept(token))

    def _no_concept(self, token: _Token) -> str:
        if token.is_(*_ATOM_WORDS):
            return f"expected `(` after `{token.text}`, as in {token.text}(p)"
        if token.kind in ("name", "quoted"):
            return (
                f"{token} alone is not a concept: write what is asked of it, as in all(p), some(p), count(p) or mean(f)"
            )
        return f"expected a concept such as all(p), some(p), count(p), max(f) or a number, found {token}"

    def brackets(self) -> Concept:
        """name[C, C, ..]"""
        token = self.advance()
        try:
            operation(token.text)
        except ConceptError as error:
            raise self.error(str(error), token) from None
        self.advance()
        arguments: list[Concept] = []
        while not self.token.is_("]"):
            if arguments:
                self.expect(",", f"or `]` in {token.text}[..]")
            arguments.append(self.concept())
        self.advance()
        return self.composite(token.start, token.text, tuple(arguments))

    def atomic(self) -> Concept:
        """Q(V), A(V), Q(V | D), A(V | D)"""
        word = self.advance()
        self.advance()
        value = self.term()
        scope = None
        if self.take("|") and not self.take("U"):
            scope = self.term()
        self.expect(")", f"to close {word.text}(..)")
        if word.text in ("all", "some", "count"):
            return self.make(word.start, Quantified, word.text, value, scope)
        return self.make(word.start, Aggregated, word.text, value, scope)

    # --- terms ---

    def term(self, least: int = _AND) -> Term:
        start = self.token.start
        left = self.nested(self.term_operand)
        while True:
            if least <= _AND and self.take("and"):
                right = self.term(_COMPOSE)
                left = self.make(start, Conjunction, left, right)
            elif least <= _COMPOSE and self.take("."):
                right = self.term(_PREFIX)
                left = self.make(start, Composition, left, right)
            else:
                return left

    def term_operand(self) -> Term:
        token = self.token
        if self.take("not"):
            inner = self.nested(self.term_operand)
            return self.make(token.start, Negation, inner)
        if self.take("some", "all"):
            role = self.postfix()
            self.expect(".", f"and a predicate or U after the role, as in {token.text} r.p,")
            filler = None if self.take("U") else self.nested(self.term_operand)
            return self.make(token.start, Restriction, token.text, role, filler)
        return self.postfix()

    def postfix(self) -> Term:
        start = self.token.start
        term = self.primary()
        while self.token.is_("*", ">="):
            if self.take("*"):
                term = self.make(start, Closure, term)
                continue
            self.advance()
            if self.token.kind != "number":
                raise self.error(f"expected a number after `>=`, as in f >= 0.5, found {self.token}")
            term = self.make(start, AtLeast, term, float(self.advance().text))
        return term

    def primary(self) -> Term:
        token = self.token
        if self.take("("):
            inner = self.term()
            self.expect(")", "to close the parenthesis")
            return inner
        if token.kind == "quoted" or (token.kind == "name" and token.text not in _TERM_WORDS):
            return self.make(self.advance().start, Primitive, token.text)
        if token.is_("inverse", "permute", "same", "within"):
            return self.call()
        if token.is_("not", "some", "all"):
            raise self.error(f"put this in parentheses: a role before `.` or `*` cannot start with {token}")
        keyword = "; a fluent of that name is written in backticks" if token.text in KEYWORDS else ""
        raise self.error(f"expected a predicate or a function, found {token}{keyword}")

    def call(self) -> Term:
        """inverse(T), permute(T, order), same(P, Q), within(P, Q)"""
        word = self.advance()
        self.expect("(", f"after {word}")
        first = self.term()
        if word.text == "inverse":
            self.expect(")", "to close inverse(..)")
            return self.make(word.start, Permutation, first, (1, 0))
        self.expect(",", f"and a second argument in {word.text}(..)")
        if word.text == "permute":
            order = self.order()
            self.expect(")", "to close permute(..)")
            return self.make(word.start, Permutation, first, order)
        second = self.term()
        self.expect(")", f"to close {word.text}(..)")
        return self.make(word.start, Agreement, word.text, first, second)

    def order(self) -> tuple[int, ...]:
        """Argument places, counted from 1."""
        places: list[int] = []
        while self.token.kind == "number":
            token = self.advance()
            if len(token.text) > 2 or not token.text.isdecimal() or not 1 <= int(token.text) <= 64:
                raise self.error(f"expected an argument's place (1, 2, ..), found {token}", token)
            places.append(int(token.text) - 1)
        if not places:
            raise self.error(f"expected the order of the arguments, as in permute(r, 2 1), found {self.token}")
        return tuple(places)
