"""The language of concepts: what can be said about a state, in formulas and in English. It knows no utility and no
learner; `values` turns concepts into columns of numbers over states.

language    terms and concepts as values
parser      from text to concept; ``parse_concept(str(c)) == c``
operations  how concepts are combined to others, and how users add operations
canonical   one form for all concepts that mean the same
check       does a concept fit a domain, and what kind of value has it
grammar     which rules may be used, and how far
composites  P(C', C'') and F(C', C'') of the grammar
bank        all concepts of a grammar, level by level
english     a concept as a sentence
atomic      atomic concepts as sentences and noun phrases
comparisons words for how many, how much and by how far
phrases     the words that sentences are made of
steps       concepts about steps: what is made new, and how things were before
values      concepts as programs over many states at once
"""
