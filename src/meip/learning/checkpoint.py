"""The decisions of a learning run, kept beside what was learned; and while it runs, so that a killed run can go on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.documents import Strict, document
from meip.base.errors import DocumentError, LearningError
from meip.base.files import make_folder
from meip.utility.preferences import Preferences
from meip.utility.terms import Utility

__all__ = ["Checkpoint", "CheckpointDocument", "Decision", "Learned"]


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


@document("checkpoint")
@dataclass(frozen=True)
class CheckpointDocument(Strict):
    """What one member of a run has decided so far."""

    run: str
    """Hash of the demonstrations and options: only the same run may go on from here."""
    member: int
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Checkpoint:
    """A folder with one small file per member, replaced as a whole after each accepted concept."""

    folder: Path
    run: str

    @classmethod
    def open(cls, folder: str | Path, run: str) -> Checkpoint:
        """A new or an existing folder; one of another run is refused, so that nothing is lost or mixed up."""
        found = cls(Path(folder), run)
        for file in sorted(found.folder.glob("member-*.json")):
            if documents.read(file, "checkpoint").run != run:
                raise LearningError(
                    f"{file}: this checkpoint is of another run (other demonstrations, options or version); "
                    "give another folder, or remove it"
                )
        return found

    def decisions(self, member: int) -> tuple[Decision, ...]:
        """What a member had decided; nothing where it had not begun."""
        file = self._file(member)
        if not file.exists():
            return ()
        found: CheckpointDocument = documents.read(file, "checkpoint")
        return found.decisions

    def keep(self, member: int, decisions: Sequence[Decision]) -> None:
        """Write down what a member has decided; when this returns, it survives a crash."""
        make_folder(self.folder)
        documents.write(self._file(member), CheckpointDocument(self.run, member, tuple(decisions)))

    def remove(self) -> None:
        """The run is finished: its files are not needed any more."""
        for file in self.folder.glob("member-*.json"):
            with suppress(DocumentError, OSError):
                if documents.read(file, "checkpoint").run == self.run:
                    file.unlink()
        with suppress(OSError):
            self.folder.rmdir()  # only where it is empty

    def _file(self, member: int) -> Path:
        return self.folder / f"member-{member:03d}.json"
