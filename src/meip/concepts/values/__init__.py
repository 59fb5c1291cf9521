"""Concepts as columns of numbers over many states at once. It knows facts and the language, not what a column is for.

program     concepts compiled to instructions, in which each distinct term is evaluated once
kernels     the instructions, on words of 64 states
plain       the same in numpy, for small work
batches     states with the same numbers of entities, packed
denotation  the values of concepts over a batch of facts
columns     the same over the states of a graph, kept and extended as it grows
"""
