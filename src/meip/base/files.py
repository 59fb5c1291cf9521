"""Files that survive crashes, and strict JSON: the ground that documents stand on.

Every output of every command goes through `write_bytes`. A regular file is replaced as a whole; what is not a regular
file (a device, a pipe, the terminal) is written to. Links are followed, a file keeps its mode, and nothing is made on
the way: a folder that is missing is an error. `check_writable` finds out before the work begins.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from meip.base.errors import DocumentError
from meip.base.text import plain

__all__ = [
    "check_folder", "check_writable", "decoded", "load_json", "make_folder", "read_bytes", "read_text",
    "refused", "status", "sync_folder", "writable", "writable_folder", "write_all", "write_bytes", "write_text",
]  # fmt: skip

P = TypeVar("P", str, Path, str | None, Path | None)
MAX_BYTES = 256 * 2**20
MAX_DEPTH = 64


def write_text(path: str | Path, text: str) -> None:
    """Write a text file: as `write_bytes` does."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file atomically: temporary file, fsync, rename, fsync of the folder. What is no file is written to."""
    check_writable(path)
    try:
        found = status(path)
        if found is not None and (not stat.S_ISREG(found.st_mode) or _stream(found) is not None):
            _write_through(path, data, _stream(found))
        else:
            _replace(Path(os.path.realpath(path)), data, found)
    except OSError as error:
        refused(path, error)


def check_writable(path: str | Path) -> None:
    """Refuse a path that could not be written: a folder, a read-only file, a file in a folder that is not there."""
    try:
        found = status(path)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        refused(path, error)
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise DocumentError(f"{path}: cannot be written: it is a folder; give a file in it")
    if found is not None and not os.access(path, os.W_OK):
        raise DocumentError(f"{path}: cannot be written: it may not be changed; give another file, or chmod u+w it")
    if found is None or stat.S_ISREG(found.st_mode):
        _check_folder(path, Path(os.path.realpath(path)).parent)


def check_folder(path: str | Path) -> None:
    """Refuse a folder for results that could not be written to, or not be made."""
    if not Path(path).is_dir():
        check_writable(path)
        if status(path) is not None:
            raise DocumentError(f"{path}: cannot be a folder: it is a file; give another name")
    else:
        _check_folder(path, Path(path))


def make_folder(path: str | Path) -> None:
    """Make a folder that a person named for results, unless it is there; the folder that it lies in has to be."""
    check_folder(path)
    try:
        Path(path).mkdir(exist_ok=True)
    except OSError as error:
        refused(path, error)


def writable(path: P) -> P:
    """The path of an output, found to be writable before the work begins: what options of commands call."""
    if path is not None:
        check_writable(path)
    return path


def writable_folder(path: P) -> P:
    """The same for a folder of outputs."""
    if path is not None:
        check_folder(path)
    return path


def _check_folder(path: str | Path, folder: Path) -> None:
    if not folder.is_dir():
        raise DocumentError(f"{path}: cannot be written: there is no folder {folder}; make it first: mkdir -p {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DocumentError(f"{path}: cannot be written: nothing may be written in the folder {folder}")


def refused(path: str | Path, error: OSError | ValueError) -> NoReturn:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    raise DocumentError(f"{plain(str(path))}: cannot be written: {reason}") from None


def status(path: str | Path) -> os.stat_result | None:
    """What lies behind a path, links followed; None: nothing does."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stream(found: os.stat_result) -> Any:
    """The stream of this process that writes to this file already, as with ``-o /dev/stdout > file``."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # none, closed, or not a file
            if os.path.samestat(found, os.fstat(stream.fileno())):
                return stream
    return None


def _write_through(path: str | Path, data: bytes, stream: Any) -> None:
    if stream is not None:
        stream.flush()
        write_all(stream.fileno(), data)
        return
    descriptor = os.open(path, os.O_WRONLY)
    try:
        write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _replace(target: Path, data: bytes, old: os.stat_result | None) -> None:
    name = target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}.tmp"
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the user's umask
    try:
        try:
            write_all(descriptor, data)
            if old is not None:
                _keep_owner_and_mode(descriptor, old)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    sync_folder(target.parent)


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError, AttributeError):  # only some may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def read_text(path: str | Path) -> str:
    """The text of a file of a sensible size."""
    return decoded(read_bytes(path), path)


def read_bytes(path: str | Path, most: int = MAX_BYTES) -> bytes:
    """A file of a sensible size."""
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)  # not by its size: devices say that they have none
        if len(data) <= most:
            return data
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DocumentError(f"{path}: cannot be read: {reason}") from None
    raise DocumentError(f"{path}: larger than {most // 2**20} MB; split it")


def decoded(data: bytes, path: str | Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: not UTF-8 text (byte {error.start})") from None


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


def sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be synced
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
