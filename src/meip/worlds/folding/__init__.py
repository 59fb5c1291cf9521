"""Folding clothes, the paper's third experiment, as a world with pictures and commands. It knows garments and folds,
and nothing of what is learned about them.

- `cloth`, `garments`, `styles`, `templates`: what is folded; `cvat`, `fold_format`: where else it may come from
- `folds` over `kernel`, `chords`, `spread`: folding one cloth and many; `silhouette`: the visible outline
- `fluents`, `paper_fluents`: what can be said about a cloth; `proposal`: which folds to consider
- `world`: all of it as a World
- `demonstrate`: the scripted demonstrator and the bundled demonstrations
- `referee`, `creases`: was it folded as people do?
- `sketch`: folding with a drawn line; `carry_out`: a fold for hands; `render`, `canvas`: pictures
- `diagrams`: what garments and folds are; `fluent_table`: fluents beside the paper's
- `grammar`: the And-Or graph of clothes, as data; `chart`, `derive`: the likeliest derivation of an outline
- `png_pieces`, `parse_image`, `sheet`, `segment`: from a file to a straightened picture, a mask and its outline
- `parts`, `planar`: to polygons; `parse_graph`: all of it as a document; `parse_picture`, `parse_tree`: to look at
- `picture_files`: a picture as a problem; `photo`: pictures as a phone takes them, to try that on
- `sampling`: many proposals at once; `commands`, `parse_command`: ``meip fold``
"""
