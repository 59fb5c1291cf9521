"""The studio as an application: the page's files, the routes of each tab, and errors as one line of JSON."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from meip import __version__
from meip.base.errors import MeipError
from meip.studio import collection, jobs, plans, recording, reports, understanding
from meip.studio.project import Missing, Studio
from meip.studio.security import Access, Guard

__all__ = ["create_app"]

WEB = Path(str(files("meip.studio") / "web"))


def create_app(studio: Studio, access: Access) -> Any:
    """Everything behind the guard."""
    app = FastAPI(title="meip studio", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    _errors(app)

    @app.get("/api/project")
    def project() -> dict[str, Any]:
        """What is in the folder."""
        return {
            "name": studio.project.path.name,
            "path": str(studio.project.path),
            "version": __version__,
            "problems": studio.worlds.summary(),
            "demonstrations": studio.project.demonstrations(),
            "tasks": studio.project.tasks(),
        }

    for module in (recording, collection, jobs, understanding, plans, reports):
        app.include_router(module.routes(studio))

    @app.get("/")
    def index() -> FileResponse:
        return FileResponse(WEB / "index.html")

    app.mount("/", StaticFiles(directory=WEB))
    return Guard(app, access)


def _errors(app: FastAPI) -> None:
    @app.exception_handler(MeipError)
    async def known(request: Request, error: MeipError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 404 if isinstance(error, Missing) else 400)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return JSONResponse({"error": f"{place}: {first['msg']}"}, 400)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code)

    @app.exception_handler(Exception)
    async def unknown(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": f"error inside meip: {type(error).__name__}: {error}"}, 500)
