"""Edits by hand, and the task as it was fitted: what is dragged is kept in the task itself, what it was before beside
it, so that a curve can be drawn as it was, and be reset.
"""

from __future__ import annotations

from pathlib import Path

from meip.base.errors import LearningError, MeipError
from meip.base.files import make_folder
from meip.studio.project import Project
from meip.tasks.task import Task
from meip.utility.terms import Edit

__all__ = ["all_edits", "edit_task", "fitted_file", "fitted_task", "reset_task"]


def fitted_file(project: Project, name: str) -> Path:
    """Where a task is kept as it was learned, while it is changed by hand."""
    folder = project.private / "fitted"
    make_folder(folder)
    return folder / project.file("tasks", name).name


def fitted_task(project: Project, name: str, task: Task) -> Task:
    """The task as it was learned; where nobody kept it, as far as its edits tell."""
    path = fitted_file(project, name)
    if path.exists() and all_edits(task):
        return Task.load(path)
    found = task
    for edit in reversed(all_edits(task)):
        try:
            found = found.edit(edit.concept, edit.before)
        except MeipError:  # a statement that was struck is not there any more
            continue
    return found


def all_edits(task: Task) -> list[Edit]:
    return list(dict.fromkeys(edit for member in task.members for edit in member.edits))


def edit_task(project: Project, name: str, concept: str, weights: list[float], note: str) -> Task:
    """Set the weights of a concept by hand, and keep the task: the edit is recorded in it."""
    path = project.existing("tasks", name)
    task = Task.load(path)
    if not all_edits(task):
        task.save(fitted_file(project, name))
    found = task.edit(concept, weights, note)
    found.save(path)
    return found


def reset_task(project: Project, name: str, concept: str | None = None) -> Task:
    """The task as it was fitted, with all other edits made again; without a concept: with none."""
    path = project.existing("tasks", name)
    task = Task.load(path)
    edits = all_edits(task)
    if concept is not None and all(edit.concept != concept for edit in edits):
        raise LearningError(f"{concept} was not changed by hand")
    found = fitted_task(project, name, task)
    for edit in edits if concept is not None else ():
        if edit.concept != concept:
            found = found.edit(edit.concept, edit.after, edit.note)
    found.save(path)
    return found
