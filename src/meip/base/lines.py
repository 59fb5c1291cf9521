"""JSON Lines, files that grow: what was acknowledged survives a crash, and nobody's line is ever taken away.

A line is written from its second byte on, with a zero byte in place of the first; the first is written last and says
that all of it is there. So an append that was killed can be told from what somebody else wrote: readers leave it out,
and the next append takes it away. Any other line that is no document is an error with its place, and
``meip check --repair`` moves it to a file of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from meip.base.errors import DocumentError
from meip.base.files import check_writable, decoded, read_bytes, refused, status, sync_folder, write_all, write_bytes
from meip.base.text import plain

__all__ = ["append_line", "complete_lines", "repair_lines"]

UNFINISHED = b"\0"


def append_line(path: str | Path, line: str) -> None:
    """Append a line to a file; when this returns, it survives a crash. Writers in other processes wait their turn.

    A failed append leaves the file as it was. One that was killed leaves a line that begins with a zero byte, which
    readers leave out and the next append takes away; what somebody else wrote is never taken away.
    """
    data = line.encode() + b"\n"
    check_writable(path)
    if not Path(path).is_file() and Path(path).exists():  # a device or a pipe has no lines to look back at
        write_bytes(path, data)
        return
    try:
        with _locked(path) as (descriptor, new):
            size = os.fstat(descriptor).st_size
            try:
                end = _end(descriptor, size, data, path)
                size = min(size, end)  # what an append that was killed had left is gone
                os.lseek(descriptor, end, os.SEEK_SET)
                write_all(descriptor, UNFINISHED + data[1:])
                os.lseek(descriptor, end, os.SEEK_SET)
                write_all(descriptor, data[:1])
                os.fsync(descriptor)
            except BaseException as error:  # a full disk, or Ctrl-C: leave no half line behind
                with suppress(OSError):
                    os.ftruncate(descriptor, size)
                if new and isinstance(error, OSError):
                    os.unlink(os.path.realpath(path))
                raise
        if new:
            sync_folder(Path(os.path.realpath(path)).parent)
    except OSError as error:
        refused(path, error)


def _end(descriptor: int, size: int, data: bytes, path: str | Path) -> int:
    """Where the next line goes: after the last newline; one that only lacks its newline gets it."""
    before = _last_line(descriptor, size)
    if before.startswith(UNFINISHED) and _agree(before[1:], data[1:17]):
        os.ftruncate(descriptor, size - len(before))
        return size - len(before)
    if before.endswith(b"\n") or not before:
        return size
    if not _is_json(before):
        raise DocumentError(_not_a_document(path, _count_lines(descriptor, size), before))
    os.lseek(descriptor, size, os.SEEK_SET)
    write_all(descriptor, b"\n")
    return size + 1


def _agree(a: bytes, b: bytes) -> bool:
    """Do these begin alike, as far as the shorter one goes?"""
    return a[: len(b)] == b[: len(a)]


def _last_line(descriptor: int, size: int) -> bytes:
    """The last line of a file, with its newline if it has one; read from the end, since files grow long."""
    found, start = b"", size
    while start > 0 and b"\n" not in found[:-1]:
        step = min(65536, start)
        start -= step
        os.lseek(descriptor, start, os.SEEK_SET)
        found = os.read(descriptor, step) + found
    return found[found.rfind(b"\n", 0, max(len(found) - 1, 0)) + 1 :]


def _count_lines(descriptor: int, size: int) -> int:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return sum(os.read(descriptor, 65536).count(b"\n") for _ in range(0, size, 65536)) + 1


def _not_a_document(path: str | Path, number: int, line: bytes) -> str:
    shown = plain(line.decode("utf-8", "replace").strip())
    return (
        f"{path}:{number}: not a whole document: {shown!r}; mend the line, or move it to {path}.removed: "
        f"meip check --repair {path}"
    )


@contextmanager
def _locked(path: str | Path) -> Iterator[tuple[int, bool]]:
    """The file, opened for this process alone, and whether it is new. Not a POSIX system: one writer is up to the user.

    Whoever waited for the lock may hold a file that was replaced meanwhile: then again.
    """
    while True:
        new = not os.path.exists(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            with suppress(ImportError):
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX)
            now = status(path)
            if now is not None and os.path.samestat(now, os.fstat(descriptor)):
                yield descriptor, new and now.st_size == 0
                return
        finally:
            os.close(descriptor)  # and with it the lock


def complete_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The non-empty lines of a JSON Lines file with their numbers, without one whose append was killed."""
    data = _finished(read_bytes(path))
    lines = decoded(data, path).split("\n")
    for number, line in enumerate(lines, start=1):
        if number == len(lines) and line.strip() and not _is_json(line.encode()):
            raise DocumentError(_not_a_document(path, number, line.encode()))
        if line.strip():
            yield number, line


def repair_lines(path: str | Path) -> list[tuple[int, bytes]]:
    """Move the lines that are not JSON to the end of ``<file>.removed``, and return them with their numbers."""
    read_bytes(path)  # there is such a file
    with _locked(path):
        lines = [(n, one) for n, one in enumerate(_finished(read_bytes(path)).split(b"\n"), start=1) if one.strip()]
        removed = [(n, one) for n, one in lines if not _is_json(one)]
        if removed:
            beside = Path(f"{path}.removed")
            before = read_bytes(beside) if beside.exists() else b""
            write_bytes(beside, before + b"".join(one + b"\n" for _, one in removed))
            write_bytes(path, b"".join(one + b"\n" for n, one in lines if (n, one) not in removed))
    return removed


def _finished(data: bytes) -> bytes:
    """Without a last line whose append was killed, which begins with a zero byte."""
    last = data.rfind(b"\n", 0, max(len(data) - 1, 0)) + 1
    return data[:last] if data[last : last + 1] == UNFINISHED else data


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
