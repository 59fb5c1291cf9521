"""Worlds, and what was shown in them. This is the only room that calls a world's methods; everybody else asks a graph.

domain          what can be said about a state: classes, fluents, tables of facts
world           what a world has to have, and the hooks that it may offer
scenes          sheets on a table, and actions that are lines drawn over them
asking          asking a world: what fails in it is named by method, state and action
check           what is wrong with a world, in words
graph           a world's states as integers, expanded once
steps           what a step makes new, beside how things were before it
showing         pictures, scenes and parts of actions, asked for safely
problems        worlds as documents, and how they are found: by file, by name, by entry point
demonstrations  what a person did, replayed and recorded
choices         all demonstrations, replayed once: each step with what else could have been done
"""
