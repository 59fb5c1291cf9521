"""How states are ranked: utilities over concepts, and how well a plan is ordered by them. It knows no search and no
learner.

terms        a concept's curve, and the utility as a sum of them
ordering     concordance and Kendall's tau, the non-Markovian reward
preferences  what somebody who chooses step by step goes by, beside g
ranking      g of the states of a graph, computed once
"""
