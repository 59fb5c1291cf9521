"""Long work: what it may use, who can call it off, and the rounds of it that are kept.

Work looks up now and then (`look`): out of time, over its memory or called off, it ends with `Stopped`. Parts that take
long are rounds (`one_round`): the same work in the same run comes to the same, so that one which was kept is recalled.
Both reach deep into numeric modules, which should not have to hand a clock around; so they go by what is running in
this thread, and cost next to nothing where nothing is.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol, TypeVar

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import BudgetError, Cancelled, LearningError

__all__ = [
    "MEMORY_FACTOR", "Limits", "NotedRounds", "Rounds", "Running", "Stopped", "as_error", "bounded", "digest",
    "keeping", "keeps_rounds", "look", "now_running", "one_round", "packed_floats", "resident", "running",
    "unpacked_floats",
]  # fmt: skip

R = TypeVar("R")
PACE = 0.02  # seconds between two looks at the limits
TICK = 0.3  # seconds after which work that does not look up is interrupted, in the main thread
MEMORY_FACTOR = 1.5
"""Of the limit on memory: allocations beyond it fail; what is resident is looked at by the limit itself."""
MEGABYTE = 2**20


class Stopped(BaseException):
    """A limit was reached, or the work was called off. No handler of ordinary errors may take it for one of its own."""

    def __init__(self, by: str, stage: str = "") -> None:
        super().__init__(by, stage)
        self.by = by
        """seconds, memory or cancelled."""
        self.stage = stage
        """What was being done."""


class Rounds(Protocol):
    """Where rounds are kept: plain JSON values, by name."""

    known: dict[str, Any]
    """Those that were done before."""

    def recall(self, name: str) -> Any: ...
    def keep(self, name: str, value: Any) -> None: ...
    def write(self) -> None: ...


class NotedRounds:
    """Rounds that somebody else is to keep."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known
        self.new: list[tuple[str, Any]] = []

    def recall(self, name: str) -> Any:
        return self.known.get(name)

    def keep(self, name: str, value: Any) -> None:
        self.new.append((name, value))

    def write(self) -> None:
        """Whoever gets them writes them."""


@dataclass(frozen=True)
class Limits:
    """What some work may use."""

    seconds: float | None = None
    """By the clock."""
    memory: float | None = None
    """Megabytes of this process."""
    cancelled: Callable[[], bool] | None = None
    """Asked now and then: has somebody called it off?"""
    until: float | None = None
    """The time of day at which the seconds are over, where the work may begin later and elsewhere."""

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise LearningError(f"{name} is at least 0, got {value}")

    @property
    def any(self) -> bool:
        return not (self.seconds is None and self.memory is None and self.cancelled is None)

    def reached(self, seconds: float) -> str:
        """Which of them is reached, after so many seconds; "" while none is."""
        if self.cancelled is not None and self.cancelled():
            return "cancelled"
        if self.seconds is not None and seconds >= self.seconds:
            return "seconds"
        return "memory" if self.memory is not None and resident() > self.memory else ""


class Running:
    """Some work that is under way."""

    def __init__(self, limits: Limits, rounds: Rounds | None = None) -> None:
        self.limits, self.rounds = limits, rounds
        self.begun = time.monotonic()
        self.stage = "the beginning"
        """What is being done, in words; whoever does it says so."""
        self.over = False
        """It was stopped, and what there is may be put together without being stopped again."""
        self.slack = 0.0
        """Seconds that it is left alone for beyond its limit, while it waits for others who keep the limit."""
        self._looked, self._ignored = self.begun - 1.0, 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def left(self) -> Limits:
        """What is left of the limits, for work elsewhere, whenever that begins."""
        if self.limits.seconds is None:
            return self.limits
        left = max(self.limits.seconds - self.seconds, 0.0)
        return dataclasses.replace(self.limits, seconds=left, until=time.time() + left)

    def look(self) -> None:
        """Go on, or end here."""
        now = time.monotonic()
        if self.over or now - self._looked < PACE:
            return
        self._looked = now
        if by := self.limits.reached(self.seconds - self.slack):
            raise Stopped(by, self.stage)

    def tick(self) -> None:
        """The same from outside: the first time it is left to the work to look up."""
        if self.over or not (by := self.limits.reached(self.seconds - self.slack)):
            return
        self._ignored += 1
        if self._ignored > 1:
            raise Stopped(by, self.stage)


_RUNNING: ContextVar[Running | None] = ContextVar("running", default=None)


def now_running() -> Running | None:
    """What runs in this thread."""
    return _RUNNING.get()


def keeps_rounds() -> Rounds | None:
    """Where rounds of what runs in this thread are kept; None: nowhere."""
    found = _RUNNING.get()
    return None if found is None else found.rounds


def look() -> None:
    """Look up from work: returns, unless a limit of what is running here is reached."""
    found = _RUNNING.get()
    if found is not None and found.limits.any:
        found.look()


def one_round(
    named: Callable[[], str], work: Callable[[], R], packed: Callable[[R], Any], unpacked: Callable[[Any], R]
) -> R:
    """What a round of work comes to: done now, or recalled where this run has done it before.

    Its name tells what it depends on within this run; `packed` makes a JSON value of what it came to, or None where
    it is not worth keeping, and `unpacked` the same bits of that.
    """
    look()
    found = _RUNNING.get()
    if found is None or found.rounds is None:
        return work()
    name = named()
    known = found.rounds.recall(name)
    if known is not None:
        try:
            return unpacked(known)
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise LearningError(f"the checkpoint's round {name!r} is damaged ({error}); remove it") from None
    result = work()
    if (value := packed(result)) is not None:
        found.rounds.keep(name, value)
    return result


def digest(*parts: Any) -> str:
    """A short name of what a round depends on. Large arrays are taken by sums of their rows, each row weighed by a
    number of its own."""
    found = hashlib.blake2b(digest_size=12)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(f"{part.dtype}{part.shape}".encode())
            large = part.dtype == np.float64 and part.ndim > 1 and part.nbytes > MEGABYTE
            found.update((np.sin(np.arange(1.0, len(part) + 1)) @ part if large else part).tobytes())
        else:
            found.update(repr(part).encode() + b"\0")
    return found.hexdigest()


def packed_floats(values: Floats) -> Any:
    """A vector as JSON, its zeros left out; None where some value is no number. -0.0 is no zero: its bits differ."""
    if not np.isfinite(values).all():
        return None
    at = np.flatnonzero(np.ascontiguousarray(values, np.float64).view(np.int64))
    return {"size": len(values), "at": at.tolist(), "values": values[at].tolist()}


def unpacked_floats(value: Any) -> Floats:
    """The vector again, to the last bit."""
    found = np.zeros(int(value["size"]))
    at = np.array(value["at"], np.int64)
    if len(at) != len(value["values"]) or (len(at) and at.min() < 0):
        raise ValueError("numbers and their places do not match")
    found[at] = value["values"]
    return found


@contextmanager
def running(limits: Limits, rounds: Rounds | None = None) -> Iterator[Running]:
    """Run some work under limits: who looks up is stopped, who does not (in the main thread) is interrupted."""
    if limits.until is not None:
        limits = dataclasses.replace(limits, seconds=max(limits.until - time.time(), 0.0))
    found = Running(limits, rounds)
    token = _RUNNING.set(found)
    try:
        with _ticking(found), bounded(limits.memory):
            yield found
    finally:
        _RUNNING.reset(token)


@contextmanager
def keeping(rounds: Rounds | None) -> Iterator[None]:
    """Keep the rounds of what runs here meanwhile; however it ends, they are written."""
    found = _RUNNING.get()
    if rounds is None or found is None:
        yield
        return
    before, found.rounds = found.rounds, rounds
    try:
        yield
    finally:
        found.rounds = before
        rounds.write()


def as_error(stop: Stopped, limits: Limits, kept: str) -> BudgetError | Cancelled:
    """For people: what was reached, when, and what is kept."""
    during = f" during {stop.stage}" if stop.stage else ""
    if stop.by == "cancelled":
        return Cancelled(f"called off{during}; {kept}")
    if stop.by == "seconds":
        return BudgetError(f"out of time after {limits.seconds:g} s{during}; {kept}")
    most = "" if limits.memory is None else f": more than {limits.memory:g} MB"
    return BudgetError(f"out of memory{most}{during}; {kept}")


def resident() -> float:
    """Megabytes of memory that this process holds now (where that is not told: held at most)."""
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (MEGABYTE if sys.platform == "darwin" else 1024)


@contextmanager
def _ticking(found: Running) -> Iterator[None]:
    """Look at the limits also where the work does not: alarms reach the main thread, between two lines of Python."""
    if (
        not found.limits.any
        or threading.current_thread() is not threading.main_thread()
        or not hasattr(signal, "setitimer")
    ):
        yield
        return

    def tick(number: int, frame: FrameType | None) -> None:
        found.tick()

    before = signal.signal(signal.SIGALRM, tick)
    timer = signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def bounded(memory: float | None) -> Iterator[None]:
    """Let allocations fail that would go beyond the limit by more than `MEMORY_FACTOR`: that is an error, where the
    machine's way is to kill somebody. It is for this process as a whole, and where a system can do it."""
    if memory is None or sys.platform != "linux":
        yield
        return
    import resource

    before, hardest = resource.getrlimit(resource.RLIMIT_DATA)
    with open("/proc/self/statm", "rb") as file:
        data = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    room = data + max(0, int((MEMORY_FACTOR * memory - resident()) * MEGABYTE))
    wanted = min([room, *(one for one in (before, hardest) if one != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hardest))
    try:
        yield
    except MemoryError:
        found = _RUNNING.get()
        raise Stopped("memory", found.stage if found is not None else "") from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hardest))
