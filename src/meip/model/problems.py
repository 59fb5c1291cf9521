"""Problem documents: a world as a file, ``{"format": "meip.problem/1", "world": "ritual", "stages": 3, ...}``.

A world that is a dataclass needs no code for this: its fields are the document's. Which names stand for which classes
is not known here but in `meip.worlds`; a file names a world, and never code to import.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

from meip.base import documents
from meip.base.errors import DocumentError, MeipError, WorldError
from meip.model.world import World, adapt, unwrap

__all__ = ["FORMAT", "build_world", "checked_world", "problem_document"]

FORMAT = "meip.problem/1"
REQUIRED = ("domain", "horizon", "initial", "actions", "outcomes", "facts")


def problem_document(world: Any) -> dict[str, Any]:
    """The document of a dataclass world; its class may carry its name in documents as ``kind: ClassVar[str]``."""
    world = unwrap(world)
    cls = type(world)
    if not dataclasses.is_dataclass(cls):
        raise WorldError(
            f"{cls.__name__} cannot be written to a problem document, because it is not a dataclass; make it one, "
            "or give the document yourself (`problem=`)"
        )
    name = getattr(cls, "kind", None)
    fields = {f.name for f in dataclasses.fields(cls) if f.init}
    body = documents.to_json(world)
    return {
        "format": FORMAT,
        "world": name if isinstance(name, str) else f"{cls.__module__}:{cls.__qualname__}",
        **{key: value for key, value in body.items() if key in fields},
    }


def build_world(factory: Any, parameters: Mapping[str, Any], *, where: str) -> World:
    """A world from the parameters of a problem document, validated against the fields of its dataclass.

    A class may have `spelled_out`, which replaces what people write for short by what the fields are.
    """
    if not (inspect.isclass(factory) and dataclasses.is_dataclass(factory)):
        raise DocumentError(
            f"{where}: $.world: {factory!r} is not a dataclass, so it has no fields to read from a file"
        )
    short = getattr(factory, "spelled_out", dict)
    try:
        fields = short(parameters)
    except MeipError as error:
        raise DocumentError(f"{where}: {error}") from None
    return checked_world(documents.validate(factory, fields, where=where), where)


def checked_world(world: Any, where: str) -> World:
    """The world, if it has the members that a world needs, with the optional ones added."""
    missing = [name for name in REQUIRED if not hasattr(world, name)]
    if missing:
        raise WorldError(f"{where}: {type(world).__name__} is not a world: it has no {', '.join(missing)}")
    return adapt(world)
