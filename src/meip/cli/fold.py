"""``meip fold``: the commands of the folding world, mounted."""

from __future__ import annotations

from meip.cli.app import app
from meip.worlds.folding.cli import fold_app

app.add_typer(fold_app, name="fold")
