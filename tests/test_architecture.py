"""The shape of the code: import direction, complete `__all__`, a quick `import meip`."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import meip

SOURCE = Path(meip.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
)

# The data flow of the design: a module may import from its own layer and from lower ones.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "files", "documents", "results", "parallel", "kernels", "estimator"),
    ("domain", "world", "problems", "check", "graph", "demonstrations", "weariness"),
    ("concepts",),
    ("chains", "decisions", "ordering", "utility"),
    ("grouping", "ranking", "tree", "expectimax", "likeliest", "plans", "lanes", "search", "guided", "pool"),
    ("training", "likelihood", "ranksvm", "learner", "candidates", "pursuit", "committee", "stepwise", "baselines"),
    ("task", "checkpoint", "planning", "explanation", "regimes", "learning", "intervals", "behaviour", "evaluation"),
    ("worlds", "experiments"),
    ("cli", "report", "studio", "bench", "__main__"),
)
LAYER_OF = {f"meip.{name}": number for number, names in enumerate(LAYERS) for name in names}
HEAVY = ("numba", "scipy", "cv2", "fastapi", "uvicorn", "starlette", "unified_planning", "joblib", "sklearn")


def layer(module: str) -> int | None:
    """The layer of a module; None for `meip` itself, the table of contents."""
    return LAYER_OF.get(".".join(module.split(".")[:2]))


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
    return {name for name in found if name.startswith("meip.")}


@pytest.mark.parametrize("module", [m for m in MODULES if m != "meip"])
def test_every_module_has_a_layer_and_imports_only_from_its_own_or_lower_ones(module: str) -> None:
    own = layer(module)
    assert own is not None, f"{module} is in no layer: name it in LAYERS, and in the design"
    upwards = {name for name in imports_of(module) if (other := layer(name)) is not None and other > own}
    assert not upwards, f"{module} (layer {own}) imports from above: {sorted(upwards)}"


def test_worlds_import_only_domain_world_and_what_lies_below() -> None:
    """Nothing in a world knows concepts or learners: a world is what a user could have written."""
    for module in MODULES:
        if module.startswith("meip.worlds."):
            above = {n for n in imports_of(module) if (other := layer(n)) is not None and 1 < other < 7}
            assert not above, f"{module} imports {sorted(above)}"


def public_names(module: str) -> set[str]:
    """The classes, functions and aliases without underscore that a module itself defines at top level."""
    names: set[str] = set()
    for node in ast.parse(path_of(module).read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", [m for m in MODULES if m != "meip"])
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
