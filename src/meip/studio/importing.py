"""Files that somebody chose in the browser, taken into the project: demonstrations, and problems with their domains.

Everything is read before anything is kept. Nobody has to say which of two files is the domain of the other: the one
with which the other can be read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from meip.base import documents
from meip.base.errors import DocumentError, MeipError
from meip.base.files import load_json
from meip.model.demonstrations import Demonstration
from meip.model.problems import file_world
from meip.studio.project import Project, Studio, file_name

__all__ = ["imported", "split"]

MOST_AT_ONCE = 1000  # demonstrations of a file
MOST_FILES = 200
PROBLEMS = "problems"

File = tuple[str, str]  # name, text


def imported(studio: Studio, files: Sequence[File]) -> dict[str, list[str]]:
    """What became of the files: the names of demonstrations, the ids of problems."""
    if not 0 < len(files) <= MOST_FILES:
        raise DocumentError(f"choose 1 to {MOST_FILES} files at once")
    shown: list[tuple[str, Demonstration]] = []
    problems: list[File] = []
    for name, text in files:
        suffix = Path(file_name(name)).suffix.lower()
        if "\0" in text or "\ufffd" in text:
            raise DocumentError(f"{name}: not UTF-8 text; put pictures into the project's folder {PROBLEMS!r} instead")
        if suffix == ".jsonl" or (suffix == ".json" and _is_demonstration(text, name)):
            shown += _demonstrations(name, text)
        elif suffix == ".json" or file_world(suffix) is not None:
            problems.append((name, text))
        else:
            raise DocumentError(f"{name}: choose demonstrations (.json, .jsonl) or problems (.json, .pddl, ..)")
    kept = _problems(studio, problems)
    return {
        "demonstrations": [_keep(studio.project, stem, one) for stem, one in shown],
        "problems": [f"file:{name}" for name in kept],
    }


def split(project: Project, name: str) -> list[str]:
    """A file of several demonstrations as a file each; the old one goes to the trash."""
    found = _demonstrations(f"{Path(name).stem}.jsonl", project.read("demonstrations", name))
    written = [_keep(project, stem, one) for stem, one in found]
    project.trash("demonstrations", name)
    return written


def _is_demonstration(text: str, name: str) -> bool:
    return documents.kind_of(load_json(text, name), name)[0] == "demonstration"


def _demonstrations(name: str, text: str) -> list[tuple[str, Demonstration]]:
    """Each with the name that its file is to have."""
    lines = [text] if name.lower().endswith(".json") else [line for line in text.splitlines() if line.strip()]
    if not 0 < len(lines) <= MOST_AT_ONCE:
        raise DocumentError(f"{name}: expected 1 to {MOST_AT_ONCE} demonstrations, found {len(lines)}")
    stem = Path(name).stem
    return [
        (
            stem if len(lines) == 1 else f"{stem} {n}",
            documents.parse(load_json(line, f"{name}:{n}"), "demonstration", where=f"{name}:{n}"),
        )
        for n, line in enumerate(lines, start=1)
    ]


def _keep(project: Project, stem: str, shown: Demonstration) -> str:
    file = project.free_name("demonstrations", stem, ".json")
    documents.write(project.file("demonstrations", file), shown)
    return file


def _problems(studio: Studio, files: Sequence[File]) -> list[str]:
    """Problems that some world can read, each with its domain beside it; what is only a domain is not kept alone."""
    plain = [one for one in files if one[0].lower().endswith(".json")]
    others = [one for one in files if one not in plain]
    for name, text in plain:
        studio.worlds.read_document(load_json(text, name), name)
    paired = _paired(studio, others)
    kept = []
    for name, text, domain in [*((name, text, None) for name, text in plain), *paired]:
        stem, suffix = Path(name).stem, Path(name).suffix.lower()
        file = studio.project.free_name("problems", stem, suffix)
        if domain is not None:
            studio.project.write("problems", f"{Path(file).stem}-domain{suffix}", domain)
        studio.project.write("problems", file, text)
        kept.append(file)
    return kept


def _paired(studio: Studio, files: Sequence[File]) -> list[tuple[str, str, str | None]]:
    """Each file that is a problem, with the domain that it was read with: one that came along, or one that is here."""
    here = [
        (name, studio.project.read("problems", name))
        for name in studio.project.problems()
        if Path(name).stem.endswith("domain")
    ]
    found: list[tuple[str, str, str | None]] = []
    used: set[str] = set()
    reasons: list[tuple[int, str]] = []  # the most telling have the highest number
    for name, text in files:
        domains = [one for one in [*files, *here] if one[0] != name and Path(one[0]).suffix == Path(name).suffix]
        for domain_name, domain in [("", None), *domains]:
            reason = _unreadable(name, text, domain)
            if reason is None:
                found.append((name, text, domain))
                used |= {name, domain_name}
                break
            # what a domain of the project says tells least, then what is missing, then what is wrong with what is there
            weak = (domain_name, domain) in here or reason.startswith(f"{Path(name).stem}-domain")
            reasons.append((0 if weak else 1 if domain is None else 2, reason))
    left = [name for name, _ in files if name not in used]
    if left and found:
        raise DocumentError(f"{left[0]}: neither a problem that can be read nor the domain of one")
    if left:
        raise DocumentError(max(reasons)[1].replace("give the domain (--domain FILE)", "choose its domain as well"))
    return found


def _unreadable(name: str, text: str, domain: str | None) -> str | None:
    """Why some world cannot read a problem with this domain; None if it can."""
    reader = file_world(Path(name).suffix.lower())
    if reader is None:
        return f"{name}: no world reads such files"
    with tempfile.TemporaryDirectory() as folder:
        path, beside = Path(folder) / name, Path(folder) / f"{Path(name).stem}-domain{Path(name).suffix}"
        path.write_text(text, encoding="utf-8")
        if domain is not None:
            beside.write_text(domain, encoding="utf-8")
        try:
            reader.read_problem(path, beside if domain is not None else None)
        except MeipError as error:
            return str(error).replace(f"{folder}/", "")
    return None
