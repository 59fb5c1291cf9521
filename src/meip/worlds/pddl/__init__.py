"""PDDL worlds."""
