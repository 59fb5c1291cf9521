"""The worlds that ship with meip, each written as a user could have written it. They know nothing of concepts, learners
or tasks; what they offer beyond a world's six members are hooks of `meip.model.world`.

didactic   the paper's first example: a short way that may fail, and a long one
ritual     the paper's second: stages at which objects are offered
folding    the paper's third: clothes on a table
pddl       any PDDL problem
"""
