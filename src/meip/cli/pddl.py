"""``meip demonstrate`` and ``meip generate``: the commands of the PDDL world, mounted."""

from __future__ import annotations

from meip.cli.app import app
from meip.worlds.pddl.commands import demonstrate, generate

__all__ = ["demonstrate", "generate"]

app.command()(demonstrate)
app.command()(generate)
