"""Files that survive crashes, and strict JSON: the ground that documents stand on."""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from meip.base.errors import DocumentError

__all__ = ["append_line", "complete_lines", "load_json", "plain", "read_text", "write_text"]

MAX_BYTES = 256 * 2**20
MAX_DEPTH = 64


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically: temporary file, fsync, rename, fsync of the folder."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        name = target.parent / f".{target.name}.{secrets.token_hex(6)}.tmp"
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the user's umask
    except OSError as error:
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
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


def append_line(path: str | Path, line: str) -> None:
    """Append a line to a file; when this returns, it survives a crash. Writers in other processes wait their turn.

    A torn last line, left by a crash of an earlier append, is cut off first.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "a+b") as file, _locked(file):
            new = file.seek(0, os.SEEK_END) == 0
            _cut_torn_line(file)
            size = file.seek(0, os.SEEK_END)
            try:
                file.write(line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except BaseException:  # a full disk, or Ctrl-C: leave no half line behind
                with suppress(OSError):
                    os.ftruncate(file.fileno(), size)
                raise
    except OSError as error:
        raise DocumentError(f"{path}: cannot be written: {error.strerror}") from None
    if new:
        _sync_folder(target.parent)


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # not a POSIX system: one writer at a time is up to the user
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def complete_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The non-empty lines of a JSON Lines file with their numbers; without a torn last one."""
    data = _read_bytes(path)
    end = len(data) if _is_json(data[data.rfind(b"\n") + 1 :]) else data.rfind(b"\n") + 1
    for number, line in enumerate(_decode(data[:end], path).split("\n"), start=1):
        if line.strip():
            yield number, line


def read_text(path: str | Path) -> str:
    """The text of a file of a sensible size."""
    return _decode(_read_bytes(path), path)


def _read_bytes(path: str | Path) -> bytes:
    try:
        if Path(path).stat().st_size <= MAX_BYTES:
            return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DocumentError(f"{path}: cannot be read: {reason}") from None
    raise DocumentError(f"{path}: larger than {MAX_BYTES // 2**20} MB; split it")


def _decode(data: bytes, path: str | Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text (byte {error.start})") from None


def _cut_torn_line(file: IO[bytes]) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    text = file.read()
    tail = text[text.rfind(b"\n") + 1 :]
    if _is_json(tail):  # only its newline is missing
        file.write(b"\n")
    else:
        file.truncate(size - len(tail))


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def load_json(text: str, where: str) -> Any:
    """Parse JSON strictly: no NaN or infinity, no key twice, not nested too deeply."""
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_no_key_twice)
    except json.JSONDecodeError as error:
        raise DocumentError(f"{where}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(f"{where}: $: nested too deeply") from None
    except ValueError as error:
        raise DocumentError(f"{where}: $: not JSON: {error}") from None
    _check_depth(value, where)
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large for a number")
    return number


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise ValueError(f"key {plain(counts.most_common(1)[0][0])!r} is given twice")
    return found


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


def plain(text: str) -> str:
    """A name taken from a file, safe to print: short, and without characters that a terminal could choke on."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:60])


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be synced
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
