"""Serving a project to the browser of whoever started it, on the loopback address only."""

from __future__ import annotations

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from meip.base.errors import MeipError
from meip.base.files import make_folder
from meip.studio.app import create_app
from meip.studio.lock import Lock
from meip.studio.project import PRIVATE, Project, Studio
from meip.studio.security import Access
from meip.studio.worlds import Worlds

__all__ = ["LOOPBACK", "serve"]

LOOPBACK = "127.0.0.1"


def serve(
    folder: str | Path,
    *,
    own: Sequence[str] = (),
    port: int = 0,
    browser: bool = True,
    started: Callable[[Access, Project], None] = lambda access, project: None,
) -> None:
    """Serve until Ctrl-C. `started` is told the link once the port is known and the project is ours."""
    with _listening(port) as listener:
        access = Access(listener.getsockname()[1])
        lock = _ours(Path(folder), access)
        try:
            project = Project.open(folder)
            app = create_app(Studio(project, Worlds(project, own), lock), access)
            config = uvicorn.Config(
                app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=1, ws="none"
            )
            started(access, project)
            if browser and _can_show():
                threading.Timer(0.3, webbrowser.open, [access.link]).start()
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            lock.give_up()


def _can_show() -> bool:
    """Is there a screen? Without one, a browser for terminals would come up where the link was printed."""
    return not sys.platform.startswith("linux") or any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY"))


def _ours(folder: Path, access: Access) -> Lock:
    """Hold the folder before anything else is written to it."""
    make_folder(folder)
    make_folder(folder / PRIVATE)
    lock = Lock(folder.resolve() / PRIVATE / "lock")
    lock.take(address=access.origins[0])
    return lock


def _listening(port: int) -> socket.socket:
    # the protocol by name: else asyncio leaves Nagle's algorithm on, and every answer waits 40 ms for its second half
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise MeipError(f"port {port} of {LOOPBACK} cannot be used: {error.strerror}; give another --port") from None
    listener.listen(128)
    return listener
