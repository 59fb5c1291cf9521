"""Problems: a world as a file, ``{"format": "meip.problem/1", "world": "ritual", "stages": 3, ...}``, and how a world
is found: by a file, by a name, or by code that the user names.

A world that is a dataclass needs no code to be written: its fields are the document's. Loading a file never imports
code that the file names: a problem document names a registered world. Packages register theirs as entry points:

==================  =====================  ====================================================================
group               name                   value
==================  =====================  ====================================================================
``meip.worlds``     in problem documents   the class
``meip.files``      a suffix, no dot       the class that reads such problem files (the hook `Files`)
``meip.documents``  a kind of document     the module that defines it (`check`, `schema` and problems ask for it)
``meip.commands``   a command              a function, or a Typer app for a group of commands
==================  =====================  ====================================================================

On the command line ``package.module:factory`` names any other world.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.errors import DocumentError, MeipError, WorldError, did_you_mean
from meip.base.text import plain
from meip.model.world import CountsActions, Files, World, has, offers

__all__ = [
    "FORMAT", "REQUIRED", "build_world", "checked_world", "file_world", "import_documents", "load_object",
    "load_problem", "missing_members", "own_class", "problem_document", "problem_key", "problem_schema", "registered",
    "resolve_world",
]  # fmt: skip

FORMAT = "meip.problem/1"
REQUIRED = ("domain", "horizon", "initial", "actions", "outcomes", "facts")
WORLDS, FILES, DOCUMENTS = "meip.worlds", "meip.files", "meip.documents"


@cache
def registered(group: str) -> dict[str, str]:
    """What installed packages register in a group of entry points: name -> ``module:attribute`` (or a module)."""
    return {point.name: point.value for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def problem_document(world: Any) -> dict[str, Any]:
    """The document of a dataclass world; its class may carry its name in documents as ``kind: ClassVar[str]``."""
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


def problem_key(world: Any) -> Any:
    """Equal for the same problem: worlds that are equal or have equal documents; else for the same object only."""
    try:
        return documents.canonical(problem_document(world))
    except MeipError:
        pass
    try:
        hash(world)
    except TypeError:
        return id(world)
    return type(world), world


def build_world(factory: Any, parameters: Mapping[str, Any], *, where: str, folder: str | Path | None = None) -> World:
    """A world from the parameters of a problem document, validated against the fields of its dataclass.

    A class may have `spelled_out`, which replaces what people write for short by what the fields are, and
    ``names_files: ClassVar[dict[str, str]]``, the fields that may hold paths and their ending: those have to lie in the
    document's folder, or below.
    """
    if not (inspect.isclass(factory) and dataclasses.is_dataclass(factory)):
        raise DocumentError(
            f"{where}: $.world: {getattr(factory, '__qualname__', factory)} is not a dataclass, so it has no fields to "
            "read from a file"
        )
    short = getattr(factory, "spelled_out", dict)
    try:
        fields = short(parameters)
        for name, ending in getattr(factory, "names_files", {}).items() if folder is not None else ():
            if isinstance(fields.get(name), str) and _is_path(fields[name], ending):
                fields = {**fields, name: _inside(fields[name], Path(str(folder)), name)}
    except MeipError as error:
        raise DocumentError(f"{where}: {error}") from None
    return checked_world(documents.validate(factory, fields, where=where), where)


def _is_path(text: str, ending: str) -> bool:
    return text.endswith(ending) and "\n" not in text and not text.lstrip().startswith("(")


def _inside(named: str, folder: Path, field: str) -> str:
    """The path of a file that a document names, which must not lead out of the document's folder."""
    try:
        found = (folder / named).resolve()
        inside = found.is_relative_to(folder.resolve())
        as_it_is = found == Path(named).resolve()
    except (OSError, ValueError, RuntimeError):  # no name that a file could have; a circle of links
        inside = as_it_is = False
    if not inside:
        raise DocumentError(
            f"$.{field}: {plain(named)!r} leads out of the document's folder; copy the file there, or name it on the "
            "command line itself"
        )
    return named if as_it_is else str(found)


def missing_members(world: object) -> list[str]:
    """What a world needs and this one has not; `max_steps` will do for `horizon` (`CountsActions`)."""
    counts_actions = offers(world, CountsActions)
    return [name for name in REQUIRED if not has(world, name) and not (name == "horizon" and counts_actions)]


def checked_world(world: Any, where: str) -> World:
    """The world, if it has the members that a world needs."""
    missing = missing_members(world)
    if missing:
        raise WorldError(f"{where}: {type(world).__name__} is not a world: it has no {', '.join(missing)}")
    found: World = world
    return found


def load_problem(
    source: Mapping[str, Any] | str | Path,
    *,
    where: str | None = None,
    own: str | None = None,
    folder: str | Path | None = None,
) -> World:
    """The world that a problem document describes; `source` is the document or the path of its file.

    A document whose class has ``stands_for: ClassVar[tuple[str, str]]``, a world and its field, is a problem with
    everything else by default: a garment is to be folded. `own` is code that the user (never the file) names,
    ``package.module:factory``: the world where the document names one that is not registered. Files that a document
    names lie in `folder` or below: by default that of its file, else the current one.
    """
    folder = Path.cwd() if isinstance(source, Mapping) and folder is None else Path(folder or Path(str(source)).parent)
    data = source if isinstance(source, Mapping) else documents.read_json(source)
    where = where or ("problem" if isinstance(source, Mapping) else str(source))
    kind, version = documents.kind_of(data, where)
    if (kind, version) != ("problem", "1"):
        subject = _subject(kind) if version == "1" else None
        if subject is not None:
            world, field = subject
            content = {key: value for key, value in data.items() if key != "format"}
            return build_world(load_object(registered(WORLDS)[world], where), {field: content}, where=where)
        raise DocumentError(f'{where}: $.format: expected "meip.problem/1", got "meip.{kind[:40]}/{version[:20]}"')
    name = data.get("world")
    if not isinstance(name, str):
        raise DocumentError(f'{where}: $.world: expected the name of a world, such as "ritual"')
    parameters = {key: value for key, value in data.items() if key not in ("format", "world")}
    kinds = registered(WORLDS)
    if own is not None and name not in kinds and name not in kinds.values():
        return build_world(own_class(own), parameters, where=where, folder=folder)
    return build_world(load_object(_registered(name, where), where), parameters, where=where, folder=folder)


def resolve_world(spec: str, *, domain: str | Path | None = None) -> World:
    """The world that a person names on the command line.

    The path of a problem document or of a file that some world reads (`Files`; with the path of its domain), the name
    of a registered world with its defaults, or ``package.module:factory``; the current folder is searched for that
    module as well.
    """
    path = Path(spec)
    reader = file_world(path.suffix)
    if reader is not None:
        return checked_world(reader.read_problem(path, domain), spec)
    if path.suffix == ".json" or path.is_file():
        return load_problem(path)
    kinds = registered(WORLDS)
    if spec in kinds:
        return _made(load_object(kinds[spec], spec), spec)
    if ":" in spec:
        return _made(load_object(spec, spec, here=True), spec)
    raise WorldError(
        f"{spec}: neither a file nor the name of a world ({did_you_mean(spec, kinds)}); "
        "a world of your own is named package.module:factory"
    )


def problem_schema() -> dict[str, Any]:
    """The JSON Schema of problem documents: one alternative for each registered world."""
    definitions: dict[str, Any] = {}
    choices = []
    for name, target in sorted(registered(WORLDS).items()):
        found = documents.json_schema(load_object(target, name))
        definitions |= found.pop("$defs", {})
        constants = {"format": {"const": "meip.problem/1"}, "world": {"const": name}}
        found["properties"] = constants | found.get("properties", {})
        found["required"] = ["format", "world", *found.get("required", [])]
        choices.append(found | {"additionalProperties": False})
    return {"$schema": documents.SCHEMA_DIALECT, "title": "Problem", "oneOf": choices} | (
        {"$defs": definitions} if definitions else {}
    )


def _registered(name: str, where: str) -> str:
    kinds = registered(WORLDS)
    if name in kinds:
        return kinds[name]
    if name in kinds.values():  # written by a class that does not carry its name
        return name
    shown = name if len(name) <= 60 else name[:57] + "..."
    raise DocumentError(
        f"{where}: $.world: {shown!r} is not a registered world ({did_you_mean(shown, kinds)}). Files never import "
        "code: for a world of your own give package.module:factory on the command line, or register it as an entry "
        f"point of the group {WORLDS!r}"
    )


def load_object(target: str, where: str, *, here: bool = False) -> Any:
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


def own_class(spec: str) -> type[Any]:
    """The class of the worlds that code makes which the user names: itself, or that of what the factory makes."""
    named = load_object(spec, spec, here=True)
    return named if inspect.isclass(named) else type(_made(named, spec))


def _made(factory: Any, where: str) -> World:
    try:
        world = factory() if callable(factory) else factory
    except MeipError:
        raise
    except Exception as error:
        raise WorldError(f"{where}: making the world failed: {type(error).__name__}: {error}") from error
    return checked_world(world, where)


def file_world(suffix: str) -> type[Files] | None:
    """The world that reads problem files with this suffix."""
    target = registered(FILES).get(suffix.removeprefix("."))
    if target is None:
        return None
    found = load_object(target, suffix)
    if not offers(found, Files):
        raise WorldError(f"{target} is registered for files ending in {suffix}, but does not offer the hook Files")
    return found  # type: ignore[return-value]


def import_documents(kind: str | None = None) -> None:
    """Import the modules that define this kind of document, or all kinds, so that `documents` knows them."""
    for name, module in registered(DOCUMENTS).items():
        if kind is None or kind == name:
            import_module(module)


def _subject(kind: str) -> tuple[str, str] | None:
    """The world and its field that a document of this kind fills, where it is a problem as it is."""
    import_documents(kind)
    if kind not in documents.kinds():
        return None
    found: tuple[str, str] | None = getattr(documents.class_of(kind), "stands_for", None)
    return found
