"""``meip check`` and ``meip schema``: are these files right, and what should they look like?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError
from meip.base.text import say
from meip.cli.app import DomainOption, JsonOption, app, print_json

__all__ = ["Finding", "check", "inspect_file", "schema"]


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Documents, demonstrations, problems, worlds.")],
    world: Annotated[
        str | None, typer.Option("--world", metavar="MODULE:FACTORY", help="Your own world, for files recorded in it.")
    ] = None,
    domain: DomainOption = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Move lines of .jsonl files that are not JSON to FILE.removed first.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check files: read documents, replay demonstrations, walk through worlds.

    \b
    Examples:
      meip check demos.jsonl                       every step of every demonstration is legal
      meip check problem.json task.json            documents of any kind
      meip check ritual packing:Packing            worlds: built in, or your own
      meip check demos.jsonl --world packing:Packing
      meip check demos.jsonl --repair              what is no document goes to demos.jsonl.removed

    Prints one line per file, a line for each problem, and one for each hint: what works and may not be meant. Exit code
    0: all are right, whatever the hints; 2: at least one is not.
    """
    moved = [line for name in files if repair for line in _repaired(name)]
    findings = [inspect_file(name, world, domain) for name in files]
    for line in moved:
        say(line, err=as_json)
    if as_json:
        print_json([vars(finding) for finding in findings])
    else:
        for finding in findings:
            for line in finding.lines():
                say(line)
    if any(finding.problems for finding in findings):
        raise typer.Exit(2)


def _repaired(name: str) -> list[str]:
    """What was moved out of a file of lines, in words."""
    from meip.base.lines import repair_lines
    from meip.base.text import plain

    if Path(name).suffix != ".jsonl":
        raise MeipError(f"{name}: --repair is about files of one document per line (.jsonl)")
    shown = [(number, plain(line.decode("utf-8", "replace").strip())) for number, line in repair_lines(name)]
    return [f"moved    {name}:{number} to {name}.removed: {text!r}" for number, text in shown]


@app.command()
def schema(
    kind: Annotated[str | None, typer.Argument(help="A kind of document; without it, the kinds are listed.")] = None,
) -> None:
    """Print the JSON Schema of a kind of document.

    \b
    Examples:
      meip schema                      which kinds there are
      meip schema demonstration > demonstration.schema.json
    """
    from meip.base import documents
    from meip.model.problems import import_documents, problem_schema

    import_documents()
    if kind is None:
        say("\n".join(sorted((*documents.kinds(), "problem"))))
    else:
        print_json(problem_schema() if kind == "problem" else documents.schema(kind))


@dataclass
class Finding:
    """What was found in one file."""

    file: str
    what: str = ""
    problems: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)
    """What works and may not be meant."""

    def lines(self) -> Iterator[str]:
        if not self.problems:
            yield f"ok       {self.file}: {self.what}"
        for problem in self.problems:
            yield f"problem  {problem if problem.startswith(self.file) else f'{self.file}: {problem}'}"
        for hint in self.hints:
            yield f"hint     {self.file}: {hint}"

    def walk(self, world: Any) -> None:
        """Walk through a world and keep what was found."""
        from meip.model.check import check_world

        found = check_world(world)
        self.problems += found.errors
        self.hints += found.hints


def inspect_file(name: str, world: str | None = None, domain: str | None = None) -> Finding:
    """Read a file or a world as thoroughly as its kind allows; problems are collected, not raised."""
    from meip.model.problems import file_world, import_documents

    import_documents()
    finding = Finding(name)
    try:
        if Path(name).suffix == ".jsonl":
            finding.what = _check_lines(name, world, finding.problems)
        elif file_world(Path(name).suffix) is None and (Path(name).suffix == ".json" or Path(name).is_file()):
            finding.what = _check_document(name, world, finding)
        else:
            finding.what = _check_world(name, domain, finding)
    except MeipError as error:
        finding.problems.append(str(error))
    return finding


def _check_lines(name: str, world: str | None, problems: list[str]) -> str:
    from meip.base import documents
    from meip.base.files import load_json
    from meip.base.lines import complete_lines

    counts: dict[str, int] = {}
    worlds: dict[str, Any] = {}
    for number, line in complete_lines(name):
        where = f"{name}:{number}"
        try:
            value = documents.parse(load_json(line, where), where=where)
            _replay_if_shown(value, world, where, worlds, Path(name).parent)
            kind = documents.dump(value)["format"].split("/")[0].removeprefix("meip.")
            counts[kind] = counts.get(kind, 0) + 1
        except MeipError as error:
            problems.append(str(error))
    return ", ".join(f"{n} {kind}{'s' * (n != 1)}" for kind, n in counts.items()) or "empty"


def _check_document(name: str, world: str | None, finding: Finding) -> str:
    from meip.base import documents
    from meip.model.problems import load_problem

    data = documents.read_json(name)
    kind, version = documents.kind_of(data, name)
    if kind == "problem":
        finding.walk(load_problem(data, where=name, own=world, folder=Path(name).parent))
        return "problem, and its world walked"
    value = documents.parse(data, where=name)
    _replay_if_shown(value, world, name, {}, Path(name).parent)
    return f"{kind} (version {version})"


def _check_world(name: str, domain: str | None, finding: Finding) -> str:
    from meip.model.problems import resolve_world

    finding.walk(resolve_world(name, domain=domain))
    return "world, walked"


def _replay_if_shown(value: Any, own: str | None, where: str, worlds: dict[str, Any], folder: Path) -> None:
    from meip.base.documents import canonical
    from meip.model.demonstrations import Demonstration, replay
    from meip.model.problems import load_problem

    if isinstance(value, Demonstration):
        key = canonical(value.problem)
        if key not in worlds:
            worlds[key] = load_problem(value.problem, where=f"{where}: $.problem", own=own, folder=folder)
        replay(worlds[key], value, where=where)
