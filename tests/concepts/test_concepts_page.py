"""Everything that docs/concepts.md shows is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from meip.base.errors import ConceptError
from meip.concepts import operations
from meip.concepts.check import kind, signature
from meip.concepts.english import english
from meip.concepts.parser import parse_concept, parse_term
from meip.model.domain import Domain, EntityClass, function, predicate

PAGE = (Path(__file__).parents[2] / "docs" / "concepts.md").read_text(encoding="utf-8")
DOMAIN = Domain(
    "page",
    (EntityClass("block"), EntityClass("place")),
    (
        predicate("on", "block", "block"),
        predicate("clear", "block"),
        predicate("held", "block"),
        predicate("two words", "block"),
        predicate("at", "block", "place"),
        predicate("between", "block", "block", "place"),
        function("weight", "block"),
    ),
).with_goals(["on"])


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    before = dict(operations._OPERATIONS)
    yield
    operations._OPERATIONS.clear()
    operations._OPERATIONS.update(before)


def rows(section: str) -> list[list[str]]:
    """The cells of a section's table."""
    body = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("| `")]
    return [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def code(cell: str) -> str:
    return cell[2:-2].strip() if cell.startswith("``") else cell.strip("`")


def test_every_atomic_concept_of_the_page_parses_and_has_its_kind() -> None:
    table = rows("Atomic concepts")
    assert len(table) == 9
    for text, _, expected in table:
        concept = parse_concept(code(text), DOMAIN)
        assert kind(concept, DOMAIN) == expected
        assert str(concept) == code(text)


def test_every_term_of_the_page_parses_back() -> None:
    table = rows("Terms")
    assert len(table) == 14
    for text, _ in table:
        term = parse_term(code(text), DOMAIN)
        signature(term, DOMAIN)
        assert str(term) == code(text)


def test_every_composite_of_the_page_parses_back_and_has_a_reading() -> None:
    table = rows("Composites")
    assert len(table) == 10
    for text, _ in table:
        concept = parse_concept(code(text), DOMAIN)
        assert str(concept) == code(text)
        assert english(concept, DOMAIN)


def test_the_python_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
    assert capsys.readouterr().out.startswith("1 9 3")
    ratio = parse_concept("count(held) / count(clear)", DOMAIN)
    assert english(ratio, DOMAIN).startswith("the number of blocks that are held as a share of")
    shown = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    with pytest.raises(ConceptError) as caught:
        parse_concept("all(claer)", names["domain"])  # type: ignore[arg-type]
    assert shown is not None and shown[1].strip() == str(caught.value)
