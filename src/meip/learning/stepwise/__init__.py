"""Learn from each demonstrated step among its alternatives (long plans, many actions).

steps         demonstrated steps with their alternatives, as state numbers
candidates    counts of the grammar's terms, each different one once
objective     the per-step likelihood with linear increments, fitted under an L1 price
learn         the choice of price and model by held-out demonstrations
"""

from meip.learning.stepwise.learn import StepwiseOptions, learn_stepwise

__all__ = ["StepwiseOptions", "learn_stepwise"]
