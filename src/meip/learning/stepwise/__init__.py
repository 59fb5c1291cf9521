"""Learn from each demonstrated step among its alternatives. It is for long plans, and knows nothing of whole ones.

needed        what of a demonstration the goal needs
combined      two problems side by side as a larger one
steps         demonstrated steps with their alternatives, as state numbers
candidates    counts of the grammar's terms, each different one once
objective     the per-step likelihood with linear increments, fitted under an L1 price
learn         the choice of price and model by held-out demonstrations
"""

from meip.learning.stepwise.learn import StepwiseOptions, learn_stepwise

__all__ = ["StepwiseOptions", "learn_stepwise"]
