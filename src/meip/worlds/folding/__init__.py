"""Folding clothes, the paper's third experiment, as a world with pictures and commands. It knows garments and folds,
and nothing of what is learned about them.

- `cloth`, `garments`, `styles`, `templates`: what is folded; `cvat`, `fold_format`: where else it may come from
- `folds` over `kernel`, `chords`, `spread`: folding one cloth and many; `silhouette`: the visible outline
- `fluents`: what can be said about a cloth; `proposal`: which folds to consider; `world`: all of it as a World
- `demonstrate`: the scripted demonstrator and the bundled demonstrations; `referee`: was it folded as people do?
- `render`, `canvas`: pictures; `image_size`, `parse_image`, `cuts`, `planar`, `parse_graph`: pictures back to polygons
- `sampling`: many proposals at once; `commands`: ``meip fold``
"""
