"""Versioned JSON documents, atomic files, hashes. Everything a person keeps goes through here; loading runs no code.

A document is a JSON object whose ``"format"`` is ``"meip.<kind>/<version>"``. Each kind is described once, by a frozen
dataclass registered with `document`; reading validates against it and names the path of what is wrong.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast

from meip.base import lines
from meip.base.errors import DocumentError, MeipError, did_you_mean
from meip.base.files import load_json, read_text, write_text
from meip.base.text import plain

__all__ = [
    "Strict", "append_line", "canonical", "class_of", "content_hash", "document", "dump", "json_schema", "kind_of",
    "kinds", "parse", "read", "read_json", "read_lines", "schema", "to_json", "validate", "write", "write_text",
]  # fmt: skip

T = TypeVar("T")
SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_KINDS: dict[str, tuple[int, type[Any]]] = {}
_KIND_OF: dict[type[Any], str] = {}


class Strict:
    """Base of dataclasses that are read from files: unknown fields are refused."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}


def document(kind: str, version: int = 1) -> Callable[[type[T]], type[T]]:
    """Class decorator: this dataclass is what a ``meip.<kind>/<version>`` document contains."""

    def register(cls: type[T]) -> type[T]:
        _KINDS[kind] = (version, cls)
        _KIND_OF[cls] = kind
        return cls

    return register


def kinds() -> tuple[str, ...]:
    """Every registered kind of document."""
    return tuple(sorted(_KINDS))


def class_of(kind: str) -> type[Any]:
    """The dataclass that a kind of document is read into."""
    return _kind(kind, "document")[1]


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document."""
    version, cls = _kind(kind, "schema")
    found = json_schema(cls)
    properties = {"format": {"const": f"meip.{kind}/{version}"}, **found.get("properties", {})}
    return {
        "$schema": SCHEMA_DIALECT,
        **found,
        "properties": properties,
        "required": ["format", *found.get("required", [])],
    }


def json_schema(cls: type[Any]) -> dict[str, Any]:
    """The JSON Schema of any dataclass."""
    found: dict[str, Any] = _adapter(cls).json_schema()
    return found


def dump(value: Any) -> dict[str, Any]:
    """A registered dataclass instance as a JSON object with its format."""
    kind = _KIND_OF.get(type(value))
    if kind is None:
        raise DocumentError(f"{type(value).__name__} is not a kind of document; kinds: {', '.join(kinds())}")
    return {"format": f"meip.{kind}/{_KINDS[kind][0]}", **to_json(value)}


def to_json(value: Any) -> dict[str, Any]:
    """The fields of a dataclass instance as JSON values; those marked ``omit_default`` where they differ from it,
    those marked ``as_text`` as the text that they print."""
    return {
        f.name: str(getattr(value, f.name))
        if f.metadata.get("as_text")
        else _json_value(getattr(value, f.name), f"$.{f.name}")
        for f in dataclasses.fields(value)
        if f.init and not (f.metadata.get("omit_default") and getattr(value, f.name) == f.default)
    }


def kind_of(data: Any, where: str = "document") -> tuple[str, str]:
    """The kind and version that a JSON value says it is, from its ``"format"``."""
    if not isinstance(data, dict):
        raise DocumentError(f"{where}: $: expected a JSON object, got {_json_type(data)}")
    found = data.get("format")
    if not isinstance(found, str) or not found.startswith("meip.") or "/" not in found:
        raise DocumentError(f'{where}: $.format: expected "meip.<kind>/<version>", got {_short(found)}')
    name, _, version = found.removeprefix("meip.").partition("/")
    return name, version


def parse(data: Any, kind: str | None = None, *, where: str = "document") -> Any:
    """Validate a JSON value as a document and build its dataclass. `where` starts every error message."""
    name, version_text = kind_of(data, where)
    if kind is not None and name != kind:
        raise DocumentError(f"{where}: $.format: expected a {kind} document, got {_short(data['format'])}")
    version, cls = _kind(name, f"{where}: $.format")
    if version_text != str(version):
        raise DocumentError(
            f"{where}: $.format: this meip reads version {version} of {name!r}, the file has {version_text[:20]!r}; "
            "upgrade meip or convert the file"
        )
    return validate(cls, {k: v for k, v in data.items() if k != "format"}, where=where)


def validate(cls: type[T], body: dict[str, Any], *, where: str) -> T:
    """Build a dataclass from JSON values, strictly: no field too many, no string taken for a number."""
    from pydantic import ValidationError

    if dataclasses.is_dataclass(cls):
        _forbid_unknown(body, [f.name for f in dataclasses.fields(cls) if f.init], where)
    try:
        text = json.dumps(body, allow_nan=False)
        return cast(T, _adapter(cls).validate_json(text, strict=True))
    except ValidationError as error:
        raise DocumentError(_first_problem(error, where)) from None
    except RecursionError:
        raise DocumentError(f"{where}: $: nested too deeply") from None
    except MeipError as error:
        raise DocumentError(f"{where}: $: {error}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:  # a check of the class itself failed oddly
        raise DocumentError(f"{where}: $: {type(error).__name__}: {error}") from None


def read(path: str | Path, kind: str | None = None) -> Any:
    """Read one document from a file."""
    return parse(read_json(path), kind, where=str(path))


def read_json(path: str | Path) -> Any:
    """Read a JSON file strictly: UTF-8, no NaN or infinity, no key twice, not nested too deeply."""
    return load_json(read_text(path), str(path))


def read_lines(path: str | Path, kind: str | None = None) -> Iterator[Any]:
    """Read the documents of a JSON Lines file. One whose append was killed is left out."""
    for number, line in lines.complete_lines(path):
        where = f"{path}:{number}"
        try:
            data = load_json(line, where)
        except DocumentError as error:
            if ", column " not in str(error):
                raise
            raise DocumentError(f"{error}; mend the line, or move it away: meip check --repair {path}") from None
        yield parse(data, kind, where=where)


def write(path: str | Path, value: Any) -> None:
    """Write a document atomically: after a crash the file is the old one or the new one, never a mixture."""
    write_text(path, _text(dump(value), indent=2) + "\n")


def append_line(path: str | Path, value: Any) -> None:
    """Append a document to a JSON Lines file; when this returns, it survives a crash."""
    lines.append_line(path, _text(dump(value)))


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    plain = dump(value) if dataclasses.is_dataclass(value) else value
    return _text(plain, sort_keys=True, separators=(",", ":"))


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, as ``sha256:<hex>``."""
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()


def _adapter(cls: Any) -> Any:
    return _make_adapter(cls)


@lru_cache(maxsize=256)
def _make_adapter(cls: Hashable) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter[Any](cast(Any, cls))


def _json_value(value: Any, place: str) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple | list):
        return [_json_value(v, f"{place}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        return {k: _json_value(v, f"{place}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_json(value)
    raise DocumentError(f"{place}: {_short(value)} ({type(value).__name__}) cannot be written to a document")


def _text(value: Any, **style: Any) -> str:
    """JSON text that can be encoded as UTF-8 and read back by anyone."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, **style)
        text.encode()
    except UnicodeEncodeError:
        raise DocumentError("a text in this document holds half of a surrogate pair, which no file can hold") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise DocumentError(f"this document holds a value that JSON cannot express: {error}") from None
    return text


def _forbid_unknown(body: dict[str, Any], known: list[str], where: str) -> None:
    for name in body:
        if name not in known:
            raise DocumentError(f"{where}: $.{plain(name)}: unknown field; {did_you_mean(plain(name), known)}")


def _kind(name: str, where: str) -> tuple[int, type[Any]]:
    if name not in _KINDS:
        raise DocumentError(f"{where}: unknown kind of document {name[:40]!r}; {did_you_mean(name[:40], _KINDS)}")
    return _KINDS[name]


def _first_problem(error: Any, where: str) -> str:
    problems = error.errors(include_url=False, include_input=True)
    first = problems[0]
    place = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{plain(p)}" for p in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    silent = {"missing", "unexpected_keyword_argument", "value_error", "json_invalid"}
    got = "" if first["type"] in silent else f", got {_short(first.get('input'))}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where}: {place}: {message}{got}{more}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")
