"""PddlWorld: any PDDL problem as a World. The goal ends the episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats, Words
from meip.base.errors import DocumentError, DomainError, WorldError, did_you_mean
from meip.model.domain import Domain, FactBlock, Facts
from meip.model.world import Picture, World
from meip.worlds.pddl.conditions import Situation, substitute, unmet
from meip.worlds.pddl.objects import Instance
from meip.worlds.pddl.plans import plan_text, step_text
from meip.worlds.pddl.reader import parse_domain, parse_problem, read_text
from meip.worlds.pddl.schemas import conjunction
from meip.worlds.pddl.syntax import Atom, Condition, DomainFile, ProblemFile, Quantified, Value
from meip.worlds.pddl.writer import domain_text, problem_text

if TYPE_CHECKING:
    from meip.worlds.pddl.engine import BaseEngine
    from meip.worlds.pddl.graph import PackedGraph

__all__ = ["PddlWorld", "find_domain", "goal_atoms", "load_domain", "read_problem", "shipped_domains"]

SHOWN = 24


def shipped_domains() -> tuple[str, ...]:
    """The names of the domains that come with meip."""
    return tuple(sorted(p.name.removesuffix(".pddl") for p in _folder().iterdir() if p.name.endswith(".pddl")))


def _folder() -> Any:
    return files("meip.worlds.pddl") / "domains"


def _source(value: str, what: str) -> tuple[str, str]:
    """(text, name for errors) of PDDL text, the name of a shipped domain, or a path."""
    if value.lstrip().startswith(("(", ";")):
        return value, what
    if what == "domain_pddl" and value in shipped_domains():
        return (_folder() / f"{value}.pddl").read_text(encoding="utf-8"), value
    if not value.endswith(".pddl"):
        known = f" ({did_you_mean(value, shipped_domains())})" if what == "domain_pddl" else ""
        raise DocumentError(
            f"{what}: {value[:60]!r} is neither PDDL text nor the path of a .pddl file"
            + (f" nor a shipped domain{known}" if known else "")
        )
    return read_text(value), value


def load_domain(source: str | Path) -> DomainFile:
    """A domain from PDDL text, a path, or the name of a shipped domain; the same text is parsed once."""
    return _domain(*_source(str(source), "domain_pddl"))


@lru_cache(maxsize=16)
def _domain(text: str, name: str) -> DomainFile:
    return parse_domain(text, name)


@dataclass(frozen=True, eq=False)
class PddlWorld(World):
    """A PDDL problem. States are the bytes of the engine's packed rows; actions are texts such as ``(board c1 l1)``."""

    kind: ClassVar[str] = "pddl"
    suffixes: ClassVar[tuple[str, ...]] = (".pddl",)
    names_files: ClassVar[dict[str, str]] = {"domain_pddl": ".pddl", "problem_pddl": ".pddl"}

    domain_pddl: str = "blocksworld"
    """The name of a shipped domain, PDDL text, or the path of a .pddl file."""
    problem_pddl: str = ""
    """PDDL text or the path of a .pddl file; empty: a generated problem of a shipped domain."""
    generate: dict[str, int] | None = None
    """The size parameters of the generator; those not named have their defaults."""
    seed: int = 0
    """Of the generator."""
    horizon: int = 10_000
    """States of a plan at most, the first included."""

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise DomainError(f"horizon counts states, so it is at least 1, got {self.horizon}")
        if self.problem_pddl and self.generate is not None:
            raise DocumentError("a PDDL world takes problem_pddl or generate, not both")
        _ = self.problem  # read at once, so that errors come early

    @cached_property
    def file(self) -> DomainFile:
        """The domain, as it was read."""
        return load_domain(self.domain_pddl)

    @cached_property
    def problem(self) -> ProblemFile:
        """The problem, as it was read or generated."""
        if self.problem_pddl:
            text, name = _source(self.problem_pddl, "problem_pddl")
        else:
            from meip.worlds.pddl.generators import generate

            text = generate(self.domain_pddl, self.seed, **(self.generate or {}))
            name = f"generated {self.domain_pddl} problem"
        return parse_problem(text, self.file, name)

    @cached_property
    def _cache(self) -> dict[str, Any]:
        return {}

    @classmethod
    def of(cls, domain: DomainFile, problem: ProblemFile, horizon: int = 10_000) -> PddlWorld:
        """The world of files that were already read."""
        return cls.parsed(domain, problem, problem_text(problem), horizon)

    @classmethod
    def parsed(cls, domain: DomainFile, problem: ProblemFile, text: str, horizon: int = 10_000) -> PddlWorld:
        """The world of files that were already read; `text` is that of the problem."""
        world = cls.__new__(cls)
        fields = {"domain_pddl": domain_text(domain), "problem_pddl": text, "generate": None, "seed": 0}
        for name, value in {**fields, "horizon": horizon, "file": domain, "problem": problem}.items():
            object.__setattr__(world, name, value)
        return world

    @cached_property
    def instance(self) -> Instance:
        return Instance.build(self.file, self.problem)

    @cached_property
    def engine(self) -> BaseEngine:
        """The compiled problem, for searches that work on packed states."""
        from meip.worlds.pddl.engine import compile_problem

        return compile_problem(self.file, self.problem)

    def state_graph(self) -> PackedGraph:
        """The graph of the problem on packed states."""
        from meip.worlds.pddl.graph import PackedGraph

        return PackedGraph(self)

    @property
    def domain(self) -> Domain:
        return self.instance.words.domain

    def pack(self, states: Sequence[bytes]) -> Words:
        """[K, width] packed rows of states."""
        # a bytearray, as arrays that may not be written to are another type, for which kernels would be compiled again
        return np.frombuffer(bytearray().join(states), dtype=np.uint64).reshape(len(states), self.engine.width)

    def initial(self) -> Sequence[tuple[float, bytes]]:
        return [(1.0, self.engine.initial.tobytes())]

    def reached(self, state: bytes) -> bool:
        return bool(self.engine.reached(self.pack([state]))[0])

    def onward(self, state: bytes) -> Sequence[bytes]:
        if not self.reached(state):
            return ()
        return [row.tobytes() for row in self.engine.successors(self.pack([state])).states]

    def actions(self, state: bytes) -> Sequence[str]:
        return list(self._expanded(state))

    def outcomes(self, state: bytes, action: str) -> Sequence[tuple[float, bytes]]:
        if self._cache.get("state") == state and action in self._cache["found"]:
            return list(self._cache["found"][action])
        step = self._step(action)
        row, number = self.pack([state])[0], self.engine.action_id(step)
        if self.engine.reached(row)[0] or number not in self.engine.applicable(row):
            raise WorldError(self._illegal(state, step) or f"{step_text(step)} is not legal here")
        return _merged(*self.engine.results(row, number))

    def _expanded(self, state: bytes) -> dict[str, list[tuple[float, bytes]]]:
        """Every action with its outcomes; the last state's are kept, because `outcomes` is asked for next."""
        if self._cache.get("state") != state:
            found: dict[str, list[tuple[float, bytes]]] = {}
            if not self.reached(state):
                after = self.engine.successors(self.pack([state]))
                ids, starts = np.unique(after.actions, return_index=True)
                order = np.argsort(starts)
                ends = np.append(starts[order][1:], len(after.actions))[: len(ids)]  # none in a dead end
                for i, low, high in zip(ids[order], starts[order], ends, strict=True):
                    text = step_text(self.engine.step(int(i)))
                    found[text] = _merged(after.probabilities[low:high], after.states[low:high])
            self._cache.update(state=state, found=found)
        return dict(self._cache["found"])

    def _step(self, action: Any) -> tuple[str, ...]:
        words = action.strip().strip("()").lower().split() if isinstance(action, str) else action
        if not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in words):
            raise WorldError(f"an action is text such as (name arg arg) or a list of words, got {action!r}")
        step = tuple(w.lower() for w in words)
        self.engine.action_id(step)  # checks the names
        return step

    def decode_action(self, value: Any) -> str:
        return step_text(self._step(value))

    def action_parts(self, action: str) -> Sequence[tuple[str, str]]:
        """The name, and what each parameter is bound to."""
        name, *objects = self._step(action)
        parameters = self.file.actions[name].parameters
        return [("action", name), *((p.name.lstrip("?"), o) for p, o in zip(parameters, objects, strict=True))]

    def _illegal(self, state: bytes, step: tuple[str, ...]) -> str | None:
        """Why a step is not legal here; None where it is."""
        if self.reached(state):
            return f"{step_text(step)}: the goal is reached already, so the episode is over"
        action = self.file.actions[step[0]]
        binding = {p.name: o for p, o in zip(action.parameters, step[1:], strict=True)}
        objects = self.problem.all_objects(self.file)
        for p in action.parameters:
            if not self.file.is_a(objects[binding[p.name]], p.types):
                return f"{step_text(step)}: {binding[p.name]} is not of type {' or '.join(p.types)} ({p.name})"
        failed = unmet(self.situation(state), action.precondition, binding)
        return None if failed is None else f"{step_text(step)} is not legal: its precondition {failed} does not hold"

    def situation(self, state: bytes) -> Situation:
        """A state by the names of its facts."""
        engine, instance = self.engine, self.instance
        row = self.pack([state])
        atoms = {a for a in self.problem.atoms if a.name not in instance.words.changing}
        for bit in np.flatnonzero(engine.layout.unpack(row)[0]):
            name, code = engine.layout.where(int(bit))
            atoms.add(Atom(name, tuple(instance.fact_text(name, code)[1:-1].split()[1:])))
        values = {v: x for v, x in self.problem.values.items() if v.name not in engine.layout.values}
        numbers = engine.numbers(row)[0]
        for name, start in engine.layout.values.items():
            for code in range(int(np.prod(instance.shape(name)))):
                if not np.isnan(numbers[start + code]):
                    words = instance.fact_text(name, code)[1:-1].split()
                    values[Value(name, tuple(words[1:]))] = float(numbers[start + code])
        return Situation(self.file, self.problem.all_objects(self.file), frozenset(atoms), values)

    # --- facts ---

    def static_facts(self) -> Facts:
        if "static" not in self._cache:
            self._cache["static"] = _static_facts(self.instance)
        found: Facts = self._cache["static"]
        return found

    def facts(self, state: bytes) -> Facts:
        tables = self.changing_tables(self.pack([state]))
        return Facts(dict(self.instance.counts), {name: table[0] for name, table in tables.items()})

    def facts_batch(self, states: Sequence[bytes]) -> list[FactBlock]:
        return [self.fact_block(self.pack(states))] if len(states) else []

    def fact_block(self, rows: Words) -> FactBlock:
        """The facts of packed states [K, width], without a loop over states."""
        if "static tables" not in self._cache:  # the same ones each time, so that they are prepared once
            self._cache["static tables"] = {name: table[None] for name, table in self.static_facts().tables.items()}
        tables = {**self._cache["static tables"], **self.changing_tables(rows)}
        return FactBlock(np.arange(len(rows), dtype=np.int64), dict(self.instance.counts), tables)

    def changing_tables(self, rows: Words) -> dict[str, NDArray[Any]]:
        """[K, n1, n2, ..] of each fluent that can change."""
        layout, instance = self.engine.layout, self.instance
        bits = layout.unpack(rows)
        tables: dict[str, NDArray[Any]] = {}
        for name in layout.names:
            codes, start, size = layout.codes[name], layout.starts[name], layout.sizes[name]
            block = bits[:, start : start + len(codes)]
            if len(codes) < size:
                full = np.zeros((len(rows), size), dtype=bool)
                full[:, codes] = block
                block = full
            tables[name] = block.reshape(len(rows), *instance.shape(name))
        numbers = self.engine.numbers(rows)
        for name, start in layout.values.items():
            shape = instance.shape(name)
            block_of = numbers[:, start : start + int(np.prod(shape))]
            tables[name] = block_of.reshape(len(rows), *shape).copy()
        return tables

    # --- files and pictures ---

    @classmethod
    def read_problem(cls, path: str | Path, domain: str | Path | None = None) -> PddlWorld:
        """The world of a problem file; without a domain, of the domain.pddl beside it or one folder up."""
        return read_problem(path, domain)

    @classmethod
    def read_plans(cls, folder: str | Path, domain: str | Path | None = None) -> list[Any]:
        """Every NAME.plan of a folder, with the NAME.pddl beside it."""
        from meip.worlds.pddl.demonstrate import read_pairs

        return read_pairs(domain, folder)

    @classmethod
    def plan_text(cls, actions: Sequence[Any]) -> str:
        """A plan file: one ``(action arg ..)`` per line, and the cost."""
        return plan_text(actions)

    def draw(self, states: Sequence[bytes], actions: Sequence[str]) -> list[Picture]:
        """Each state as a table of facts, with what the last action added and deleted."""
        from meip.worlds.pddl.view import html_state

        before = [None, *states[:-1]]
        tables = [html_state(self, state, last) for state, last in zip(states, before, strict=True)]
        captions = ["start", *actions]
        return [Picture(c, html=f'<div class="scroll">{t}</div>') for c, t in zip(captions, tables, strict=True)]

    def describe(self, state: bytes) -> str:
        texts = self.engine.fact_texts(self.pack([state])[0])
        more = f" ... ({len(texts)} facts)" if len(texts) > SHOWN else ""
        return " ".join(texts[:SHOWN]) + more


def _merged(probabilities: Floats, states: Words) -> list[tuple[float, bytes]]:
    """Outcomes that lead to the same state as one."""
    found: dict[bytes, float] = {}
    for p, row in zip(probabilities, states, strict=True):
        key = row.tobytes()
        found[key] = found.get(key, 0.0) + float(p)
    return [(p, s) for s, p in found.items()]


def _static_facts(instance: Instance) -> Facts:
    """Type and constant predicates, predicates and numbers that never change, and what the goal asks for."""
    words, domain = instance.words, instance.words.domain
    tables: dict[str, NDArray[Any]] = {}
    for fluent in domain.fluents:
        if fluent.static:
            fill: Any = np.nan if fluent.real else False
            tables[fluent.name] = np.full(instance.shape(fluent.name), fill, dtype=float if fluent.real else bool)
    for atom in instance.problem.atoms:
        if atom.name not in words.changing:
            tables[atom.name].reshape(-1)[instance.code(atom)] = True
    for value, number in instance.problem.values.items():
        if value.name in tables:
            tables[value.name].reshape(-1)[instance.code(value)] = number
    for kind, name in words.type_predicates.items():
        tables[name][instance.local[instance.of_types((kind,))]] = True
    for constant, name in words.constant_predicates.items():
        tables[name][instance.local[instance.number[constant]]] = True
    for atom in goal_atoms(instance, instance.problem.goal):
        if atom.name in words.changing:
            tables[atom.name + "_goal"].reshape(-1)[instance.code(atom)] = True
    return Facts(dict(instance.counts), tables)


def goal_atoms(instance: Instance, goal: Condition) -> list[Atom]:
    """The atoms that every goal state must contain; universal goals are written out."""
    found: list[Atom] = []
    todo = [goal]
    objects = instance.problem.all_objects(instance.file)
    situation = Situation(instance.file, objects, frozenset(), {})
    while todo:
        parts = conjunction(todo.pop())
        found += parts.positive
        for part in parts.rest:
            if isinstance(part, Quantified) and part.quantifier == "forall":
                todo += [substitute(part.body, b) for b in situation.bindings(part.variables, {})]
    return found


def read_problem(path: str | Path, domain: str | Path | None = None) -> PddlWorld:
    """The world of a problem file. Without a domain: the one that `find_domain` finds."""
    file = load_domain(domain if domain is not None else find_domain(Path(path)))
    text = read_text(path)
    return PddlWorld.parsed(file, parse_problem(text, file, str(path)), text)


def find_domain(problem: Path) -> Path:
    """The domain file of a problem: beside it, or in the folder above."""
    folder = problem.absolute().parent
    choices = [folder / "domain.pddl", folder / f"{problem.stem}-domain.pddl", folder.parent / "domain.pddl"]
    for choice in choices:
        if choice.is_file():
            return choice
    raise DocumentError(f"{problem}: no domain.pddl beside it or one folder up; give the domain (--domain FILE)")
