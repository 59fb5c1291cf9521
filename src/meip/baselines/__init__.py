"""Other agents to compare with. They learn from the same demonstrations and act in the same graphs as a task.

agents      MaxEnt-IRL, a nearest-step clone, goal counting, and chance, all as agents
named       the same by their names on the command line
maxent_irl  MaxEnt-IRL, the paper's baseline
tabular     a world as arrays, and the passes that maximum-entropy methods need
"""
