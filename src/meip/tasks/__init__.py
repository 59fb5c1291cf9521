"""`Task`, and what one does with it, a module for each verb. Everything below is put together here, and nothing here
knows a particular world.

task          what was learned, as one document that can be read, edited and planned with
learn         demonstrations in, a task out
limits        the same in time and memory, or the best so far
plan          a task and a world in, a plan out
reasons       why a plan does what it does, and how sure that is
edits         changes by hand that act
demonstrated  what demonstrations show by themselves
sample        plans drawn in proportion to exp(lambda tau)
explain       a task in words
evaluate      how agents behave in other worlds, measured
"""
