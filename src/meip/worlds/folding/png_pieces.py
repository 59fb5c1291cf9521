"""Are the pieces of a PNG file as long as they say? OpenCV makes room for what they say, be it gigabytes."""

from __future__ import annotations

import struct
from pathlib import Path

from meip.base.errors import DocumentError

__all__ = ["check_pieces"]

PNG = b"\x89PNG\r\n\x1a\n"


def check_pieces(data: bytes, path: str | Path) -> None:
    """Refuse a PNG that is damaged or cut off; other formats are left to those who read them."""
    if data.startswith(PNG) and not _fit(data):
        raise DocumentError(f"{path}: not an image that OpenCV can read: it is damaged or cut off; save it again")


def _fit(data: bytes) -> bool:
    at = len(PNG)
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        at += 12 + int(length)
        if kind == b"IEND":
            return at <= len(data)
    return False
