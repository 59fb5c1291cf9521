"""How fast each part is, as ratios to peers that do the same work in the same run. A module is a benchmark with
``run(peers) -> rows``; `_compare` holds the stop-watch, `_chores` a world of any size.

concepts   columns of concepts, against DLPlan
graph      expanding a world
maxent     the gradient of MaxEnt-IRL, against imitation
pursuit    against the paper's Algorithm 2 taken literally
ranksvm    against scikit-learn's LinearSVC
search     tree search, against mcts and OpenSpiel
pddl       expansions and plans, against pymimir
folds      folding, against shapely
folding    learning to fold and planning folds
growth     how learning grows with demonstrations, steps, things and concepts, with exponents (minutes)
parallel   what two processes gain (by the clock: nothing else should run)
studio     the studio's answers: previews, the first page, long lists
startup    compiling, until the first result on a fresh machine
"""
