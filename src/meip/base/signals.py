"""How a process ends when it is told to: quietly, within a second, whatever it is doing.

Ctrl-C and SIGTERM raise `Ended` where Python code runs, so that temporary files are removed on the way out. Compiled
code does not notice it, and some libraries swallow it: a thread ends the process after `GRACE` seconds. Only a process
that is ours does this (`meip` on the command line), never the library.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = [
    "Ended", "ctrl_c_is_for_parents", "end_quietly", "nothing_left_to_do", "open_streams", "outlive_no_parent",
]  # fmt: skip

GRACE = 0.8
SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h"
POLL = 0.25  # seconds between two looks at the parent


class Ended(KeyboardInterrupt):
    """The process was told to end, by Ctrl-C or SIGTERM."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.code = 128 + number
        """What a shell expects of a process that ended by this signal."""


def end_quietly() -> None:
    """From now on Ctrl-C and SIGTERM end this process without a traceback."""
    told, teller = os.pipe()
    os.set_blocking(teller, False)
    for number in SIGNALS:
        signal.signal(number, _raise)
    signal.set_wakeup_fd(teller, warn_on_full_buffer=False)
    threading.Thread(target=_end_after_grace, args=(told,), daemon=True).start()
    sys.unraisablehook = _silent(sys.unraisablehook)
    threading.excepthook = _silent(threading.excepthook)


def nothing_left_to_do() -> None:
    """The work is done: a signal that comes now ends the process at once, where Python would complain at exit."""
    for number in SIGNALS:
        signal.signal(number, lambda number, frame: os._exit(128 + number))


def open_streams() -> None:
    """Output that was closed (``>&-``) goes nowhere; else the next file that is opened would get it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (for the whole process)
        getattr(sys, name).reconfigure(errors="backslashreplace")  # an output that cannot say it all says what it can


@contextmanager
def ctrl_c_is_for_parents() -> Iterator[None]:
    """Processes that are started meanwhile never see Ctrl-C, which a terminal sends to all: a parent ends them.

    A blocked signal stays blocked in children; here it comes afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def outlive_no_parent(parent: int) -> None:
    """In a worker, as the first thing it does: end when the process that started this one is gone, or went already."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os._exit(1)


def _raise(number: int, frame: FrameType | None) -> None:
    raise Ended(number)


def _end_after_grace(told: int) -> None:
    while True:
        number = os.read(told, 1)[0]  # whatever the main thread is doing: this is written where the signal arrives
        if number in SIGNALS:
            time.sleep(GRACE)
            if sys.__stderr__ is not None and sys.__stderr__.isatty():
                os.write(2, SHOW_CURSOR)  # a progress bar had hidden it
            os._exit(128 + number)


def _silent(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A hook that says nothing about `Ended`, which some destructor or thread was the first to see."""

    def quiet(found: Any) -> None:
        if not isinstance(found.exc_value, Ended):
            hook(found)

    return quiet
