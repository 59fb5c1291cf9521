"""A picture of a garment is a problem as it is: fold what it shows. The hook `Files` for image files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip.base.errors import WorldError
from meip.model.demonstrations import Episode
from meip.worlds.folding.parse_graph import parse_image, to_garment
from meip.worlds.folding.world import Folding

__all__ = ["PictureFiles"]


class PictureFiles:
    """Reads pictures as folding problems; where the parse is not sure, it asks instead."""

    suffixes: tuple[str, ...] = (".png", ".jpg", ".jpeg", ".webp", ".bmp")

    @classmethod
    def read_problem(cls, path: str | Path, domain: str | Path | None = None) -> Folding:
        """Fold the garment in this picture."""
        if domain is not None:
            raise WorldError(f"{path}: a picture has no domain file; leave --domain out")
        graph = parse_image(path)
        if graph.doubt:
            raise WorldError(
                f"{path}: not sure: {graph.doubt}; then: meip fold parse {path} .. --garment FILE, and plan with FILE"
            )
        return Folding(to_garment(graph))

    @classmethod
    def read_plans(cls, folder: str | Path, domain: str | Path | None = None) -> list[Episode]:
        """Pictures hold no plans."""
        raise WorldError(f"{folder}: folds are recorded as demonstrations (.jsonl), not as pictures")

    @classmethod
    def plan_text(cls, actions: Sequence[Any]) -> str:
        """One fold per line."""
        return "".join(f"(fold {' '.join(f'{number:.6g}' for number in action)})\n" for action in actions)
