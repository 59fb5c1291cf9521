"""``meip studio``: record, learn, understand, plan and report in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError
from meip.base.text import say
from meip.cli.app import app

__all__ = ["studio"]


@app.command()
def studio(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The project's folder; made, with examples, if it is not there.")
    ] = Path("meip-studio"),
    world: Annotated[
        list[str] | None,
        typer.Option("--world", metavar="MODULE:CLASS", help="A world of your own; may be given several times."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Default: any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> None:
    """Open a project in the browser: show a task, see what was learned, question it, watch it carried over.

    \b
    Examples:
      meip studio
      meip studio shirts
      meip studio garden --world garden:Garden
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MeipError("the studio needs two more packages; install them: pip install 'meip[studio]'")
    from meip.studio.server import serve

    def started(access: Any, project: Any) -> None:
        say(f"meip studio: {project.path}\n\n  {access.link}\n\nOnly this machine can open it. Ctrl-C ends it.")

    serve(folder, own=world or (), port=port, browser=browser, started=started)
