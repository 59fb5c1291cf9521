"""How fast each part is, as ratios to peers that do the same work in the same run.

Each module has ``run(peers) -> rows``; a module whose name begins with an underscore is a tool of the others.
"""
