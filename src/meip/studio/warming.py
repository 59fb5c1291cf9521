"""What lines do is compiled code. On a machine that has none yet, making it takes seconds to half a minute: that begins
when somebody looks at a problem with lines, and the other pages need not wait for it.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

from meip.base.errors import MeipError
from meip.model.graph import StateGraph
from meip.model.scenes import TakesLines
from meip.model.showing import scene_of, stroke_of
from meip.model.world import offers

__all__ = ["Warming"]


class Warming:
    """One thread for each class of worlds, once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: dict[type[Any], threading.Thread] = {}

    def begin(self, world: Any) -> None:
        """In the background, if it has not begun."""
        if not offers(world, TakesLines):
            return
        with self._lock:
            if type(world) not in self._threads:
                thread = self._threads[type(world)] = threading.Thread(target=_warm, args=(world,), daemon=True)
                thread.start()

    def wait(self, world: Any) -> None:
        """Until it is done: ask before a lock is taken that others want."""
        self.begin(world)
        thread = self._threads.get(type(world))
        if thread is not None:
            thread.join()


def _warm(world: Any) -> None:
    """Ask what the studio asks of a state, and what a line would do."""
    with suppress(MeipError):
        graph = StateGraph(world)
        first = int(graph.initial[0])
        scene = scene_of(world, [graph.states[first]], ())
        for guide in () if scene is None else scene.guides[-1:]:
            stroke_of(world, graph.states[first], guide.line)
        graph.over(first)
