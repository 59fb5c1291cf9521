"""One studio to a folder: the system's lock on a file, which a killed process gives up."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from meip.base.errors import MeipError

__all__ = ["Lock", "Taken"]


class Taken(MeipError):
    """Another studio has this project open."""


class Lock:
    """Held from `take` to `give_up` or the end of the process. The file says by whom, for people."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self, **who: Any) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        if not _locked(descriptor):
            os.close(descriptor)
            raise Taken(f"{self.path.parent.parent}: another studio has this project open ({self._holder()}); close it")
        self._descriptor = descriptor
        self.tell(**who)

    def tell(self, **who: Any) -> None:
        """Write down who has it."""
        if self._descriptor is None:
            return
        text = json.dumps({"process": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M"), **who})
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0) if hasattr(os, "pwrite") else os.write(
            self._descriptor, text.encode()
        )

    def detach(self) -> int:
        """The locked descriptor, which is now the caller's to hand on and to close."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            raise MeipError(f"{self.path}: the lock is not held")
        return descriptor

    def give_up(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def _holder(self) -> str:
        try:
            said = json.loads(self.path.read_text())
            return f"process {int(said['process'])}, {said.get('address', 'no address yet')}, since {said['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "it does not say who"


def _locked(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            os.lseek(descriptor, 4096, os.SEEK_SET)  # beyond the text, which others may then still read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            return True
        except OSError:
            return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
