"""The shape of the code: import direction, complete `__all__`, a quick `import meip`."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import meip
from meip.model.world import HOOKS

SOURCE = Path(meip.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
)

ROOM = {name: number for number, name in enumerate(meip.ROOMS)}
WORLDS_KNOW = ("base", "model", "utility", "search", "worlds")
HEAVY = ("numba", "scipy", "cv2", "fastapi", "uvicorn", "starlette", "unified_planning", "joblib", "sklearn")


def room(module: str) -> str:
    """The room of a module; "" for `meip` itself, the table of contents."""
    return module.split(".")[1] if "." in module else ""


def path_of(module: str) -> Path:
    base = SOURCE.parent.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def imports_of(module: str) -> set[str]:
    """The modules of meip that a module names in import statements, whether they run at import time or later."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path_of(module).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if room(name) in ROOM}


def hook_members(hook: type) -> set[str]:
    return {name for name in (*vars(hook), *vars(hook).get("__annotations__", {})) if not name.startswith("_")}


IN_ROOMS = [m for m in MODULES if m not in ("meip", "meip.__main__")]


def test_the_listing_is_the_rooms_and_nothing_else() -> None:
    listed = {path.name for path in SOURCE.iterdir() if path.name != "__pycache__"}
    assert listed == {*meip.ROOMS, "data", "__init__.py", "__main__.py", "py.typed"}


@pytest.mark.parametrize("module", IN_ROOMS)
def test_every_module_imports_only_from_its_own_room_and_those_before_it(module: str) -> None:
    upwards = {name for name in imports_of(module) if ROOM[room(name)] > ROOM[room(module)]}
    assert not upwards, f"{module} imports from rooms that come later: {sorted(upwards)}"


PACKAGES = sorted(str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("*/__init__.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_a_room_says_what_it_knows_and_lists_what_is_in_it(name: str) -> None:
    """Its `__init__` is the table of contents: every module and folder of the room is named in the docstring."""
    folder = SOURCE / name
    told = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    listed = {p.stem for p in folder.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()} - {"__init__"}
    missing = {one for one in listed if not re.search(rf"(^|[\s`,]){re.escape(one)}($|[\s`,/:])", told, re.MULTILINE)}
    assert len(told.split("\n\n")[0].split(". ")) >= 2, "two sentences: what the room knows, and what it does not"
    assert not missing, f"meip/{name}/__init__.py does not tell of {sorted(missing)}"


def test_a_world_knows_only_what_a_user_could_have_written() -> None:
    """Nothing in a world knows concepts, learners or tasks."""
    for module in IN_ROOMS:
        if room(module) == "worlds":
            above = {name for name in imports_of(module) if room(name) not in WORLDS_KNOW}
            assert not above, f"{module} imports {sorted(above)}"


KNOW_WORLDS = ("worlds", "experiments", "bench")
TABLES = ("meip.baselines.maxent_irl", "meip.baselines.tabular")  # what they call a world is an array
CALL_WORLDS = ("model", *KNOW_WORLDS)
WORLD_MEMBERS = {"domain", "horizon", "initial", "actions", "outcomes", "facts"}.union(*map(hook_members, HOOKS))


@pytest.mark.parametrize("module", [m for m in IN_ROOMS if room(m) not in KNOW_WORLDS])
def test_only_experiments_and_benches_name_a_world(module: str) -> None:
    assert not {name for name in imports_of(module) if room(name) == "worlds"}
    assert "meip.worlds." not in path_of(module).read_text()


@pytest.mark.parametrize("module", [m for m in IN_ROOMS if room(m) not in CALL_WORLDS and m not in TABLES])
def test_only_the_model_calls_a_world(module: str) -> None:
    """Everybody else asks the graph; what a world offers beyond that is asked for by `offers`."""
    asked = []
    for node in ast.walk(ast.parse(path_of(module).read_text())):
        if isinstance(node, ast.Attribute) and node.attr in WORLD_MEMBERS:
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
            if name.endswith("world"):
                asked.append(f"{name}.{node.attr} in line {node.lineno}")
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("hasattr", "getattr")
            and "world" in ast.unparse(node)
        ):
            asked.append(ast.unparse(node))
    assert not asked


def public_names(module: str) -> set[str]:
    """The classes, functions and aliases without underscore that a module itself defines at top level."""
    names: set[str] = set()
    for node in ast.parse(path_of(module).read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", IN_ROOMS)
def test_all_is_complete_and_true(module: str) -> None:
    if not public_names(module):
        return
    loaded = importlib.import_module(module)
    listed = list(loaded.__all__)
    assert public_names(module) <= set(listed), f"{module}.__all__ lacks {sorted(public_names(module) - set(listed))}"
    assert len(listed) == len(set(listed))
    assert all(hasattr(loaded, name) for name in listed)


def test_the_table_of_contents_lists_what_it_can_load() -> None:
    for name in meip.__all__:
        assert getattr(meip, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = meip.nonsense


def test_type_checkers_see_the_same_table_of_contents() -> None:
    """The imports under TYPE_CHECKING must be those that are made lazily at run time."""
    seen: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse((SOURCE / "__init__.py").read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("meip."):
            seen.setdefault(node.module, set()).update(alias.name for alias in node.names)
    assert seen == {module: set(names) for module, names in meip._CONTENTS.items()}


HELP = """
import meip.cli
try:
    meip.cli.main(["--help"])
except SystemExit:
    pass
"""


@pytest.mark.parametrize("code", ["import meip", HELP], ids=["import", "help"])
def test_importing_meip_and_asking_for_help_loads_nothing_heavy(code: str) -> None:
    report = f"{code}\nimport sys\nprint('LOADED', sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert "LOADED []" in done.stdout, done.stdout[-300:] + done.stderr[-300:]
