"""A promise about files: mutated documents give only MeipError with a place."""

from __future__ import annotations

import random
import re

import pytest

from attack.mutants import READERS, VALID, mutate
from meip import MeipError
from meip.base import documents
from meip.base.files import load_json

MUTANTS = 1000


@pytest.mark.parametrize("kind", sorted(VALID))
def test_mutated_documents_give_only_meip_errors_that_name_a_place(kind: str) -> None:
    rng = random.Random(kind)
    reader = READERS.get(kind, lambda data, where: documents.parse(data, kind, where=where))
    refused = 0
    for number in range(MUTANTS):
        text = mutate(rng.choice(VALID[kind]), rng)
        where = f"file-{number}.json"
        try:
            reader(load_json(text, where), where)
        except MeipError as error:
            refused += 1
            message = str(error)
            message.encode()
            assert re.match(rf"file-{number}\.json: (\$|line \d+, column \d+)", message), message
            assert len(message) < 1500
    assert refused > MUTANTS * 0.6  # most mutations matter


@pytest.mark.parametrize("kind", sorted(VALID))
def test_the_documents_that_are_mutated_are_right_to_begin_with(kind: str) -> None:
    for data in VALID[kind]:
        read = READERS.get(kind, lambda d, where: documents.parse(d, kind, where=where))(data, "here")
        assert read is not None
