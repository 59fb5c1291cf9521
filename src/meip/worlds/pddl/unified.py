"""`unified_planning` Problems as PDDL trees of ours (extra ``meip[pddl]``)."""

from __future__ import annotations

from typing import Any

from meip.base.errors import DocumentError
from meip.worlds.pddl.syntax import (
    ActionSchema,
    And,
    Arithmetic,
    Assign,
    Atom,
    Compare,
    Condition,
    DomainFile,
    Effect,
    Equal,
    ForAll,
    Literal,
    Not,
    Number,
    Numeric,
    Or,
    ProblemFile,
    Quantified,
    Symbol,
    Together,
    Value,
    Variable,
    When,
)
from meip.worlds.pddl.world import PddlWorld

__all__ = ["convert_problem", "from_unified"]


def from_unified(problem: Any, horizon: int = 10_000) -> PddlWorld:
    """The world of a unified_planning Problem."""
    domain, instance = convert_problem(problem)
    return PddlWorld.of(domain, instance, horizon)


def convert_problem(problem: Any) -> tuple[DomainFile, ProblemFile]:
    """A unified_planning Problem as a domain and a problem. What we cannot express is named."""
    return _Converter(problem).convert()


class _Converter:
    def __init__(self, problem: Any) -> None:
        if type(problem).__name__ != "Problem":
            raise DocumentError(f"a {type(problem).__name__} is not supported: only unified_planning's Problem is")
        for what in ("timed_effects", "timed_goals", "trajectory_constraints"):
            if getattr(problem, what, None):
                raise DocumentError(f"problem {problem.name!r}: {what.replace('_', ' ')} are not supported")
        self.problem = problem
        self.name = _word(problem.name or "problem")

    def convert(self) -> tuple[DomainFile, ProblemFile]:
        problem = self.problem
        types: dict[str, tuple[str, ...]] = {"object": ()}
        for t in problem.user_types:
            if _word(t.name) != "object":
                types[_word(t.name)] = (_word(t.father.name) if t.father is not None else "object",)
        predicates: dict[str, Symbol] = {}
        functions: dict[str, Symbol] = {}
        for fluent in problem.fluents:
            arguments = tuple(Variable(f"?x{i}", (self._type(p.type),)) for i, p in enumerate(fluent.signature))
            if not (fluent.type.is_bool_type() or fluent.type.is_int_type() or fluent.type.is_real_type()):
                raise DocumentError(f"fluent {fluent.name!r} has objects as values, which is not supported")
            kind = predicates if fluent.type.is_bool_type() else functions
            kind[_word(fluent.name)] = Symbol(_word(fluent.name), arguments)
        objects = {_word(o.name): (self._type(o.type),) for o in problem.all_objects}
        named = {a.name: self._action(a) for a in problem.actions}
        actions = {a.name: a for a in named.values()}
        # every object is a constant of the domain only where an action names one; as objects they are enough else
        constants = {o: t for o, t in objects.items() if any(o in _objects(a) for a in actions.values())}
        domain = DomainFile(self.name, types, constants, predicates, functions, actions)
        rest = {o: t for o, t in objects.items() if o not in constants}
        atoms, values = self._initial()
        goal = And(tuple(self.condition(g) for g in problem.goals))
        return domain, ProblemFile(self.name, self.name, rest, atoms, values, goal)

    def _type(self, kind: Any) -> str:
        if not kind.is_user_type():
            raise DocumentError(f"an argument of type {kind} is not supported: only objects are")
        return _word(kind.name)

    def _initial(self) -> tuple[tuple[Atom, ...], dict[Value, float]]:
        atoms: list[Atom] = []
        values: dict[Value, float] = {}
        for expression, value in self.problem.initial_values.items():
            name = _word(expression.fluent().name)
            args = tuple(self._term(a) for a in expression.args)
            if not value.is_bool_constant():
                values[Value(name, args)] = float(value.constant_value())
            elif value.bool_constant_value():
                atoms.append(Atom(name, args))
        return tuple(atoms), values

    def _action(self, action: Any) -> ActionSchema:
        if type(action).__name__ != "InstantaneousAction":
            raise DocumentError(f"action {action.name!r} is a {type(action).__name__}, which is not supported")
        if getattr(action, "simulated_effect", None) is not None:
            raise DocumentError(f"action {action.name!r} has simulated effects, which are not supported")
        parameters = tuple(Variable(_variable(p.name), (self._type(p.type),)) for p in action.parameters)
        precondition = And(tuple(self.condition(c) for c in action.preconditions))
        effects = Together(tuple(self._effect(e, action.name) for e in action.effects))
        return ActionSchema(_word(action.name), parameters, precondition, effects)

    def _effect(self, effect: Any, where: str) -> Effect:
        name = _word(effect.fluent.fluent().name)
        args = tuple(self._term(a) for a in effect.fluent.args)
        found: Effect
        if effect.fluent.type.is_bool_type():
            if not effect.value.is_bool_constant():
                raise DocumentError(f"action {where!r}: {name} is set to {effect.value}; only true or false can be")
            found = Literal(Atom(name, args), effect.value.bool_constant_value())
        else:
            kind = "increase" if effect.is_increase() else "decrease" if effect.is_decrease() else "assign"
            found = Assign(kind, Value(name, args), self.number(effect.value))
        if not effect.condition.is_true():
            found = When(self.condition(effect.condition), found)
        if effect.forall:
            found = ForAll(tuple(Variable(_variable(v.name), (self._type(v.type),)) for v in effect.forall), found)
        return found

    def _term(self, node: Any) -> str:
        if node.is_parameter_exp():
            return _variable(node.parameter().name)
        if node.is_variable_exp():
            return _variable(node.variable().name)
        if node.is_object_exp():
            return _word(node.object().name)
        raise DocumentError(f"the argument {node} is not supported: only objects, parameters and variables are")

    def condition(self, node: Any) -> Condition:
        """A boolean expression."""
        if node.is_bool_constant():
            return And(()) if node.bool_constant_value() else Or(())
        if node.is_fluent_exp():
            return Atom(_word(node.fluent().name), tuple(self._term(a) for a in node.args))
        if node.is_not():
            return Not(self.condition(node.arg(0)))
        if node.is_and() or node.is_or():
            parts = tuple(self.condition(a) for a in node.args)
            return And(parts) if node.is_and() else Or(parts)
        if node.is_implies():
            return Or((Not(self.condition(node.arg(0))), self.condition(node.arg(1))))
        if node.is_iff():
            one, other = self.condition(node.arg(0)), self.condition(node.arg(1))
            return And((Or((Not(one), other)), Or((Not(other), one))))
        if node.is_exists() or node.is_forall():
            variables = tuple(Variable(_variable(v.name), (self._type(v.type),)) for v in node.variables())
            return Quantified("exists" if node.is_exists() else "forall", variables, self.condition(node.arg(0)))
        if node.is_equals() and node.arg(0).type.is_user_type():
            return Equal(self._term(node.arg(0)), self._term(node.arg(1)))
        if node.is_equals() or node.is_le() or node.is_lt():
            operator = "=" if node.is_equals() else "<=" if node.is_le() else "<"
            return Compare(operator, self.number(node.arg(0)), self.number(node.arg(1)))
        raise DocumentError(f"the condition {node} is not supported")

    def number(self, node: Any) -> Numeric:
        """A numeric expression."""
        if node.is_int_constant() or node.is_real_constant():
            return Number(float(node.constant_value()))
        if node.is_fluent_exp():
            return Value(_word(node.fluent().name), tuple(self._term(a) for a in node.args))
        for test, operator in (("is_plus", "+"), ("is_minus", "-"), ("is_times", "*"), ("is_div", "/")):
            if getattr(node, test)():
                return Arithmetic(operator, tuple(self.number(a) for a in node.args))
        raise DocumentError(f"the number {node} is not supported")


def _objects(action: ActionSchema) -> set[str]:
    """The words of an action that could be objects."""
    text = f"{action.precondition} {action.effect}"
    return {word for word in text.replace("(", " ").replace(")", " ").split() if not word.startswith("?")}


def _word(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name.lower()) or "_"


def _variable(name: str) -> str:
    return "?" + _word(name.removeprefix("?"))
