"""Versioned JSON documents, atomic files, hashes. Everything a person keeps goes through here; loading runs no code.

A document is a JSON object whose ``"format"`` is ``"meip.<kind>/<version>"``. Each kind is described once, by a frozen
dataclass registered with `document`; reading validates against it and names the path of what is wrong.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from meip.errors import DocumentError, did_you_mean

__all__ = [
    "append_line",
    "canonical",
    "content_hash",
    "document",
    "dump",
    "kinds",
    "parse",
    "read",
    "read_lines",
    "schema",
    "write",
    "write_text",
]

T = TypeVar("T")
MAX_BYTES = 256 * 2**20
MAX_DEPTH = 64

_KINDS: dict[str, tuple[int, type[Any]]] = {}
_KIND_OF: dict[type[Any], str] = {}


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


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of document."""
    from pydantic import TypeAdapter

    version, cls = _kind(kind, "meip schema")
    found = TypeAdapter(cls).json_schema()
    properties = {"format": {"const": f"meip.{kind}/{version}"}, **found.get("properties", {})}
    found["properties"] = properties
    found["required"] = ["format", *found.get("required", [])]
    found["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return found


def dump(value: Any) -> dict[str, Any]:
    """A registered dataclass instance as a JSON object with its format."""
    from pydantic import TypeAdapter

    kind = _KIND_OF.get(type(value))
    if kind is None:
        raise DocumentError(f"{type(value).__name__} is not a kind of document; kinds: {', '.join(kinds())}")
    body = TypeAdapter(type(value)).dump_python(value, mode="json", exclude_defaults=False)
    return {"format": f"meip.{kind}/{_KINDS[kind][0]}", **body}


def parse(data: Any, kind: str | None = None, *, where: str = "document") -> Any:
    """Validate a JSON value as a document and build its dataclass. `where` starts every error message."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(data, dict):
        raise DocumentError(f"{where}: $: expected a JSON object, got {_json_type(data)}")
    found = data.get("format")
    if not isinstance(found, str) or not found.startswith("meip."):
        raise DocumentError(f'{where}: $.format: expected "meip.<kind>/<version>", got {json.dumps(found)[:60]}')
    name, _, version_text = found[5:].partition("/")
    if kind is not None and name != kind:
        raise DocumentError(f"{where}: $.format: expected a {kind} document, got {found!r}")
    version, cls = _kind(name, f"{where}: $.format")
    if version_text != str(version):
        raise DocumentError(
            f"{where}: $.format: this meip reads version {version} of {name!r}, the file has {version_text[:20]!r}; "
            "upgrade meip or convert the file"
        )
    body = {k: v for k, v in data.items() if k != "format"}
    try:
        return TypeAdapter(cls).validate_python(body, strict=False)
    except ValidationError as error:
        raise DocumentError(_first_problem(error, where)) from None
    except RecursionError:
        raise DocumentError(f"{where}: $: nested too deeply") from None


def read(path: str | Path, kind: str | None = None) -> Any:
    """Read one document from a file."""
    return parse(_load(_read_text(path), str(path)), kind, where=str(path))


def read_lines(path: str | Path, kind: str | None = None) -> Iterator[Any]:
    """Read the documents of a JSON Lines file. A torn last line (no newline: a crash during append) is left out."""
    text = _read_text(path)
    lines = text.split("\n")
    complete = lines[:-1]
    if lines[-1].strip():
        with suppress(DocumentError):  # whole but for its newline: keep it
            _load(lines[-1], str(path))
            complete = lines
    for number, line in enumerate(complete, start=1):
        if line.strip():
            where = f"{path}:{number}"
            yield parse(_load(line, where), kind, where=where)


def write(path: str | Path, value: Any) -> None:
    """Write a document atomically: after a crash the file is the old one or the new one, never a mixture."""
    write_text(path, json.dumps(dump(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically: temporary file, fsync, rename, fsync of the folder."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    except OSError as error:
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        with suppress(OSError):
            os.unlink(name)
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from None
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def append_line(path: str | Path, value: Any) -> None:
    """Append a document to a JSON Lines file; when this returns, it survives a crash.

    A torn last line, left by a crash of an earlier append, is cut off first.
    """
    target = Path(path)
    line = (json.dumps(dump(value), ensure_ascii=False, allow_nan=False) + "\n").encode()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new = not target.exists()
        with open(target, "a+b") as file:
            _cut_torn_line(file)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from None
    if new:
        _sync_folder(target.parent)


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    plain = dump(value) if dataclasses.is_dataclass(value) else value
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_hash(value: Any) -> str:
    """SHA-256 of the canonical JSON, as ``sha256:<hex>``."""
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()


def _kind(name: str, where: str) -> tuple[int, type[Any]]:
    if name not in _KINDS:
        raise DocumentError(f"{where}: unknown kind of document {name[:40]!r}; {did_you_mean(name[:40], _KINDS)}")
    return _KINDS[name]


def _cut_torn_line(file: Any) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    text = file.read()
    tail = text[text.rfind(b"\n") + 1 :]
    try:
        json.loads(tail)
    except ValueError:
        file.truncate(size - len(tail))
    else:
        file.write(b"\n")


def _read_text(path: str | Path) -> str:
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path}: larger than {MAX_BYTES // 2**20} MB; split it")
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text (byte {error.start})") from None


def _load(text: str, where: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise DocumentError(f"{where}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(f"{where}: $: nested too deeply") from None
    except ValueError as error:
        raise DocumentError(f"{where}: not JSON: {error}") from None
    _check_depth(value, where)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _check_depth(value: Any, where: str) -> None:
    layer, depth = [value], 0
    while layer:
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentError(f"{where}: $: nested more than {MAX_DEPTH} deep")
        layer = [
            child
            for item in layer
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]


def _first_problem(error: Any, where: str) -> str:
    problems = error.errors(include_url=False, include_input=True)
    first = problems[0]
    place = "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    got = "" if first["type"] in {"missing", "unexpected_keyword_argument"} else f", got {_short(first.get('input'))}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{where}: {place}: {message}{got}{more}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _json_type(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be synced
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
