"""From a graph and a ranking to a plan: a `Query` in, a `Found` out, one module per algorithm. It knows what a state is
worth, not where that came from.

query         what a search is asked for and what it answers; what an agent is
find          the searches by name
choosing      the step that adds most, or to stop: how people chose
greedy        the best step, again and again
best_first    the best state seen; with a cost of the path it is A*
beam          the best histories of each length, by their tau or by the likelihood of their steps
exact         every plan
tree          Monte Carlo tree search over histories
tree_kernels  its arrays and rules
batched_tree  the same where states are costly: many simulations side by side
base_policy   P0: uniform among the actions that differ in what they lead to
branches      plans drawn from a converged tree by the values of its branches
plans         sets of plans: listed, rolled out, drawn from a model
pool          plans with weights, from which log Z is estimated
"""
