"""The decisions of a learning run, kept beside what was learned; and while it runs its rounds, so that a run that was
killed can go on.

Learning is deterministic, so that nothing but the rounds that take time has to be kept: a run that goes on does all it
did before, and recalls what those rounds came to. It cannot go another way, and ends with the same bytes.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.documents import Strict, document
from meip.base.errors import DocumentError, LearningError
from meip.base.files import make_folder
from meip.base.running import Stopped
from meip.utility.preferences import Preferences
from meip.utility.terms import Utility

__all__ = ["Checkpoint", "CheckpointDocument", "Decision", "KeptRound", "KeptRounds", "Learned"]

EVERY = 0.1  # seconds of work that may be lost, besides the round that was under way


@dataclass(frozen=True)
class Decision(Strict):
    """One thing the pursuit considered, and what became of it."""

    step: int
    stage: str
    """"level 1", "level 2", .., "order", "avoid", "simplify"."""
    concept: str
    taken: bool
    tau: float
    gain: float
    """By how much the posterior J - costs grew (or would have)."""
    reason: str


@dataclass(frozen=True)
class Learned:
    """What a learner gives: a utility for each member, what spoke for it, and the decisions of the first one."""

    utilities: tuple[Utility, ...]
    evidence: dict[str, Any] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    preferences: Preferences | None = None
    warnings: tuple[str, ...] = ()
    cut: Stopped | None = None
    """What stopped it before it had finished."""


@dataclass(frozen=True)
class KeptRound(Strict):
    """A part of the work that took time, and what it came to."""

    name: str
    value: dict[str, Any]


@document("checkpoint")
@dataclass(frozen=True)
class CheckpointDocument(Strict):
    """A line of a checkpoint: the rounds that a member of a run has done since the line before."""

    run: str
    """Hash of the demonstrations and options: only the same run may go on from here."""
    rounds: tuple[KeptRound, ...]


class KeptRounds:
    """The rounds of one member, in a file that grows."""

    def __init__(self, file: Path, run: str) -> None:
        self.file, self.run = file, run
        self.known: dict[str, dict[str, Any]] = {}
        self._new: list[KeptRound] = []
        self._written = time.monotonic()
        self._turn = threading.RLock()  # fits are done in threads
        if file.exists():
            for line in documents.read_lines(file, "checkpoint"):
                _check_run(file, line, run)
                self.known |= {one.name: one.value for one in line.rounds}

    def recall(self, name: str) -> dict[str, Any] | None:
        """What a round came to, if it was done before."""
        return self.known.get(name)

    def keep(self, name: str, value: dict[str, Any]) -> None:
        """Keep a round; it survives a crash when it is written, a moment later."""
        with self._turn:
            self._new.append(KeptRound(name, value))
            if time.monotonic() - self._written > EVERY:
                self.write()

    def write(self) -> None:
        """Write down what is new; when this returns, it survives a crash."""
        with self._turn:
            if self._new:
                make_folder(self.file.parent)
                documents.append_line(self.file, CheckpointDocument(self.run, tuple(self._new)))
                self._new = []
            self._written = time.monotonic()


@dataclass(frozen=True)
class Checkpoint:
    """A folder with a file of rounds for each member."""

    folder: Path
    run: str

    @classmethod
    def open(cls, folder: str | Path, run: str) -> Checkpoint:
        """A new or an existing folder; one of another run is refused, so that nothing is lost or mixed up."""
        found = cls(Path(folder), run)
        for file in found.files():
            for line in documents.read_lines(file, "checkpoint"):
                _check_run(file, line, run)
                break
        return found

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("member-*.jsonl"))

    def rounds(self, member: int) -> KeptRounds:
        """Those of a member; none where it had not begun."""
        return KeptRounds(self.folder / f"member-{member:03d}.jsonl", self.run)

    def remove(self) -> None:
        """The run is finished: its files are not needed any more."""
        for file in self.files():
            with suppress(DocumentError, OSError):
                if all(line.run == self.run for line in documents.read_lines(file, "checkpoint")):
                    file.unlink()
        with suppress(OSError):
            self.folder.rmdir()  # only where it is empty


def _check_run(file: Path, line: CheckpointDocument, run: str) -> None:
    if line.run != run:
        raise LearningError(
            f"{file}: this checkpoint is of another run (other demonstrations, options or version); "
            "give another folder, or remove it"
        )
