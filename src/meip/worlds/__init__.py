"""The worlds that ship with meip, and how a world is found: by a file, by a name, or by code that the user names.

Loading a file never imports code that the file names: a problem document names a registered world. Packages register
theirs under the entry point group ``meip.worlds``; on the command line ``package.module:factory`` names any other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.documents import kind_of
from meip.base.errors import DocumentError, MeipError, WorldError, did_you_mean
from meip.model.problems import build_world, checked_world, problem_document
from meip.model.world import World

__all__ = ["load_problem", "problem_document", "problem_schema", "resolve_world", "world_kinds"]

BUILT_IN = {
    "didactic": "meip.worlds.didactic:Didactic",
    "folding": "meip.worlds.folding.world:Folding",
    "pddl": "meip.worlds.pddl:PddlWorld",
    "ritual": "meip.worlds.ritual:Ritual",
}
SUBJECTS = {"garment": ("folding", "garment")}
"""Documents that are a problem as they are: the world, and its field that the document fills."""
GROUP = "meip.worlds"
PDDL_READER = "meip.worlds.pddl:read_problem"


def world_kinds() -> dict[str, str]:
    """Every registered world: its name in documents, and the class as ``module:Class``."""
    return dict(_entry_points()) | BUILT_IN


@cache
def _entry_points() -> tuple[tuple[str, str], ...]:
    """What installed packages register; looking through them takes milliseconds, so it is done once."""
    return tuple((point.name, point.value) for point in entry_points(group=GROUP))


def load_problem(source: Mapping[str, Any] | str | Path, *, where: str | None = None, own: str | None = None) -> World:
    """The world that a problem document describes; `source` is the document or the path of its file.

    A document of a `SUBJECTS` kind, such as a garment, stands for the problem with everything else by default. `own` is
    code that the user (never the file) names, ``package.module:factory``: the world where the document names one that
    is not registered.
    """
    data = source if isinstance(source, Mapping) else documents.read_json(source)
    where = where or ("problem" if isinstance(source, Mapping) else str(source))
    kind, version = kind_of(data, where)
    if (kind, version) != ("problem", "1"):
        if kind in SUBJECTS and version == "1":
            world, field = SUBJECTS[kind]
            content = {key: value for key, value in data.items() if key != "format"}
            return build_world(_load(BUILT_IN[world], where), {field: content}, where=where)
        raise DocumentError(f'{where}: $.format: expected "meip.problem/1", got "meip.{kind[:40]}/{version[:20]}"')
    name = data.get("world")
    if not isinstance(name, str):
        raise DocumentError(f'{where}: $.world: expected the name of a world, such as "ritual"')
    parameters = {key: value for key, value in data.items() if key not in ("format", "world")}
    kinds = world_kinds()
    if own is not None and name not in kinds and name not in kinds.values():
        return build_world(_load(own, own, here=True), parameters, where=where)
    return build_world(_load(_registered(name, where), where), parameters, where=where)


def resolve_world(spec: str, *, domain: str | Path | None = None) -> World:
    """The world that a person names on the command line.

    The path of a problem document or of a PDDL problem (with the path of its domain), the name of a registered world
    with its defaults, or ``package.module:factory``; the current folder is searched for that module as well.
    """
    path = Path(spec)
    if path.suffix == ".pddl":
        return checked_world(_load(PDDL_READER, spec)(path, domain), spec)
    if path.suffix == ".json" or path.is_file():
        return load_problem(path)
    kinds = world_kinds()
    if spec in kinds:
        return _made(_load(kinds[spec], spec), spec)
    if ":" in spec:
        return _made(_load(spec, spec, here=True), spec)
    raise WorldError(
        f"{spec}: neither a file nor the name of a world ({did_you_mean(spec, kinds)}); "
        "a world of your own is named package.module:factory"
    )


def problem_schema() -> dict[str, Any]:
    """The JSON Schema of problem documents: one alternative for each registered world."""
    definitions: dict[str, Any] = {}
    choices = []
    for name, target in sorted(world_kinds().items()):
        found = documents.json_schema(_load(target, name))
        definitions |= found.pop("$defs", {})
        constants = {"format": {"const": "meip.problem/1"}, "world": {"const": name}}
        found["properties"] = constants | found.get("properties", {})
        found["required"] = ["format", "world", *found.get("required", [])]
        choices.append(found | {"additionalProperties": False})
    return {"$schema": documents.SCHEMA_DIALECT, "title": "Problem", "oneOf": choices} | (
        {"$defs": definitions} if definitions else {}
    )


def _registered(name: str, where: str) -> str:
    kinds = world_kinds()
    if name in kinds:
        return kinds[name]
    if name in kinds.values():  # written by a class that does not carry its name
        return name
    shown = name if len(name) <= 60 else name[:57] + "..."
    raise DocumentError(
        f"{where}: $.world: {shown!r} is not a registered world ({did_you_mean(shown, kinds)}). Files never import "
        "code: for a world of your own give package.module:factory on the command line, or register it as an entry "
        f"point of the group {GROUP!r}"
    )


def _load(target: str, where: str, *, here: bool = False) -> Any:
    """The object named ``module:attribute``. `here`: the user named it, so the current folder may hold the module."""
    module_name, _, attribute = target.partition(":")
    if here and "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise WorldError(f"{where}: cannot import {module_name!r}: {error}") from error
    except Exception as error:
        raise WorldError(f"{where}: importing {module_name!r} failed: {type(error).__name__}: {error}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [n for n in vars(module) if not n.startswith("_")]
        raise WorldError(f"{where}: {module_name!r} has no {attribute!r}; {did_you_mean(attribute, names)}") from None


def _made(factory: Any, where: str) -> World:
    try:
        world = factory() if callable(factory) else factory
    except MeipError:
        raise
    except Exception as error:
        raise WorldError(f"{where}: making the world failed: {type(error).__name__}: {error}") from error
    return checked_world(world, where)
