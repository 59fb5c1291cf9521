"""Full disks and kills in every kind of write."""

from __future__ import annotations

import os
import random
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from attack import Tally
from meip import DocumentError, Domain, EntityClass, append_demonstration, read_demonstrations, record
from meip.base import documents
from meip.worlds.folding.canvas import write_image
from meip.worlds.ritual import Ritual

__all__ = ["full_disk_appends", "full_disk_writes", "kills_in_appends", "kills_in_writes"]

SHOWN = record(Ritual(), [(1, "torch", 5), (2, "bamboo", 1), (3, "clay", 4)])
IMAGE = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """A disk that is full at this size of a file: writes beyond are cut short, then refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def full_disk_appends(folder: Path, attempts: int, seed: int = 0) -> Tally:
    """An append to a file on a full disk says so and leaves the file as it was, to the byte."""
    tally, rng = Tally("appends on a full disk"), random.Random(seed)
    for number in range(attempts):
        file = folder / f"full-{number}.jsonl"
        for _ in range(rng.randrange(3)):
            append_demonstration(file, SHOWN)
        before = file.read_bytes() if file.exists() else None
        if before is not None and rng.random() < 0.4:  # an earlier append was killed
            line = documents.canonical(SHOWN).encode()
            file.write_bytes(before + b"\0" + before.split(b"\n")[0][1 : rng.randrange(1, len(line))])
        added = replace(SHOWN, note="x" * rng.choice([0, 100, 5000, 20000]))
        line = len(documents.canonical(added))
        with tally.attempt(f"append {number}", 5.0):
            try:
                with files_no_larger_than(len(before or b"") + rng.randrange(line + 1)):
                    append_demonstration(file, added)
            except DocumentError:
                now = file.read_bytes() if file.exists() else None
                assert now == before, "the file is not as it was"
            else:
                raise AssertionError("it was acknowledged")
            append_demonstration(file, added)
            assert read_demonstrations(file)[-1] == added
        file.unlink()
    return tally


def full_disk_writes(folder: Path, attempts: int, seed: int = 0) -> Tally:
    """A document or picture written on a full disk leaves the old one, and nothing beside it."""
    tally, rng = Tally("writes on a full disk"), random.Random(seed)
    for number in range(attempts):
        name, write, _ = KINDS[number % len(KINDS)]
        file = folder / name
        write(file, 0)
        before = file.read_bytes()
        with tally.attempt(f"{name} {number}", 5.0):
            try:
                with files_no_larger_than(rng.randrange(len(before) - 1)):
                    write(file, 1)
            except DocumentError:
                assert file.read_bytes() == before
                assert os.listdir(folder) == [name]
            else:
                raise AssertionError("it was acknowledged")
        file.unlink()
    return tally


def killed_at_random(work: Callable[[int], object], rng: random.Random) -> list[int]:
    """Fork a child that does work(0), work(1), .. and reports each one done; kill -9 it at some moment."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # no cleanup of the parent's session here: leave by _exit or by the kill
        try:
            for number in range(1000):
                work(number)
                os.write(writer, f"{number}\n".encode())
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as reports:
        first = reports.readline() if rng.random() < 0.9 else ""
        for _ in range(rng.randrange(200 * rng.randrange(40) + 1)):
            pass  # a random moment within the next writes, without a clock
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [int(line) for line in [first, *reports] if line.endswith("\n")]


def kills_in_appends(folder: Path, attempts: int, seed: int = 0) -> Tally:
    """What was acknowledged is there after kill -9, once each, and the file can be read at any moment."""
    tally, rng = Tally("kill -9 in appends"), random.Random(seed)
    file = folder / "demos.jsonl"
    expected: set[str] = set()
    for kill in range(attempts):

        def append(number: int, kill: int = kill) -> None:
            append_demonstration(file, replace(SHOWN, note=f"{kill}/{number} " + "padding " * 4000))

        with tally.attempt(f"kill {kill}", 5.0):
            expected |= {f"{kill}/{number}" for number in killed_at_random(append, rng)}
            if file.exists():
                found = [d.note.split()[0] for d in read_demonstrations(file)]
                assert expected <= set(found) and len(found) == len(set(found))
            if kill % 20 == 19:  # files that grow without end make the attack slow
                file.unlink()
                expected.clear()
    return tally


def _document(file: Path, number: int) -> None:
    documents.write(file, Domain(f"d{number}", tuple(EntityClass(f"c{i}") for i in range(300))))


def _picture(file: Path, number: int) -> None:
    image = IMAGE.copy()
    image[0, 0] = number % 251
    write_image(file, image)


def _page(file: Path, number: int) -> None:
    documents.write_text(file, f"<p>{number}</p>" + "<p>text</p>" * 20000 + "</html>")


def _whole_document(data: bytes) -> bool:
    return len(documents.parse(__import__("json").loads(data), "domain").classes) == 300


def _whole_picture(data: bytes) -> bool:
    return data.startswith(b"\x89PNG") and data.endswith(b"IEND\xaeB`\x82")


def _whole_page(data: bytes) -> bool:
    return data.startswith(b"<p>") and data.endswith(b"</html>")


KINDS: list[tuple[str, Callable[[Path, int], None], Callable[[bytes], bool]]] = [
    ("document.json", _document, _whole_document),
    ("picture.png", _picture, _whole_picture),
    ("page.html", _page, _whole_page),
]


def kills_in_writes(folder: Path, attempts: int, seed: int = 0) -> Tally:
    """After kill -9 a document, a picture and a page are the old one or the new one, never a mixture."""
    tally, rng = Tally("kill -9 in every kind of write"), random.Random(seed)
    for kill in range(attempts):
        name, write, whole = KINDS[kill % len(KINDS)]
        file = folder / name
        write(file, 0)
        with tally.attempt(f"{name} {kill}", 5.0):
            killed_at_random(lambda number, file=file, write=write: write(file, number), rng)
            assert whole(file.read_bytes()), "torn"
    return tally
