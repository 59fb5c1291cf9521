"""Learning within limits: all of it, or the best so far, which says so, or an error that says what is kept.

The pursuit has something to show at every moment. Learning from choices has not: under a time limit a simpler language
is learned first; one that does not fit into memory is made simpler.
"""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from meip.base.running import Limits, Running, Stopped, as_error, look, now_running, running
from meip.learning.options import LearnOptions, Progress, Run
from meip.tasks.task import Task

__all__ = ["apart", "cut_short", "within_limits"]

Learns = Callable[[LearnOptions, Run], Task]
FIRST = 0.2  # of the time may have gone before another simpler language is tried
POLL = 0.1
SLACK = 0.7  # seconds in which workers hand over what they have
WORDS = {"seconds": "out of time", "memory": "out of memory"}


def within_limits(learned: Learns, asked: LearnOptions, how: Run, simpler: Callable[[], list[LearnOptions]]) -> Task:
    """What is learned within the limits of a run; `simpler` gives options for languages with less to say, the simplest
    first."""
    how = dataclasses.replace(how, progress=_noting(how.progress))
    with running(how.limits) as work:
        best: Task | None = None
        try:
            if how.seconds is not None:
                for options in simpler():
                    if best is None or work.seconds < FIRST * how.seconds:
                        best = _quick(learned, options, how, work)
                work.stage = "the beginning"
            return learned(asked, how)
        except (Stopped, MemoryError) as error:
            stop = _stop(error, work)
        # what the exception held is free from here on
        if stop.by == "memory" and best is None:
            best = _smaller(learned, simpler(), how, work)
        work.over = True
        if best is None or stop.by == "cancelled":
            raise as_error(stop, how.limits, _kept(how)) from None
        return cut_short(best, stop, how, simplified=True)


def cut_short(task: Task, stop: Stopped, how: Run, *, simplified: bool = False) -> Task:
    """The same task, which says that it was not finished, and at which stage."""
    most = f"{how.seconds:g} s" if stop.by == "seconds" else "all there is"
    if stop.by == "memory" and how.memory is not None:
        most = f"{how.memory:g} MB"
    what = f"learning was cut ({WORDS[stop.by]}: {most}) during {stop.stage}"
    spare = "what was learned before from a simpler language" if simplified else "the best so far"
    report = {"cut": {"by": stop.by, "most": most, "stage": stop.stage, "simpler": simplified}}
    return dataclasses.replace(
        task,
        warnings=(f"{what}: this is {spare}; {_kept(how)}", *task.warnings),
        provenance=dataclasses.replace(task.provenance, evidence={**task.provenance.evidence, **report}),
    )


@contextmanager
def apart(work: Running) -> Iterator[Limits]:
    """What is left of the limits, fit to be sent to another process: there a file says that it was called off."""
    left, work.slack = work.left(), SLACK  # they end in time, and hand over what they have
    if left.cancelled is None:
        yield left
        return
    asked, done = left.cancelled, threading.Event()
    with tempfile.TemporaryDirectory(prefix="meip-") as folder:
        flag = Path(folder) / "cancelled"

        def watch() -> None:
            while not done.wait(POLL):
                if asked():
                    flag.touch()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield dataclasses.replace(left, cancelled=flag.exists)
        finally:
            done.set()
            watcher.join()


def _quick(learned: Learns, options: LearnOptions, how: Run, work: Running) -> Task:
    """By a simpler language, without a word and without a checkpoint."""
    work.stage = "learning a simpler language first"
    quiet = dataclasses.replace(how, progress=None, checkpoint=None)
    return learned(options, quiet)


def _smaller(learned: Learns, ways: list[LearnOptions], how: Run, work: Running) -> Task | None:
    """By the richest language that fits into memory."""
    for options in reversed(ways):
        try:
            return _quick(learned, options, how, work)
        except (Stopped, MemoryError) as error:
            if _stop(error, work).by != "memory":
                return None
    return None


def _stop(error: Stopped | MemoryError, work: Running) -> Stopped:
    """The same without the frames of the work, which hold what it had in memory."""
    return Stopped(error.by if isinstance(error, Stopped) else "memory", work.stage)


def _kept(how: Run) -> str:
    if how.checkpoint is None:
        return "nothing is kept to go on from (see checkpoint)"
    return f"the same without the limit goes on from {how.checkpoint}"


def _noting(tell: Progress | None) -> Progress:
    """Remember what is being done, look at the limits, and pass it on."""

    def noted(info: dict[str, Any]) -> None:
        work = now_running()
        if work is not None:
            work.stage = _words(info)
        if tell is not None:
            tell(info)
        look()

    return noted


def _words(info: dict[str, Any]) -> str:
    """The stage that follows a message, as far as it says."""
    stage, count = f"what follows {info['stage']}", info.get("members", 1)
    if "done" in info:
        return f"members ({info['done']} of {count} done)"
    return f"member {info['member']} of {count}, {stage}" if count > 1 and "member" in info else stage
