"""How large a picture is, read from its bytes: before it is unpacked, which may take all memory."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from meip.base.errors import DocumentError

__all__ = ["MOST_PIXELS", "check_pixels"]

PNG = b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 2**26  # 8192 x 8192


def check_pixels(data: Any, path: str | Path) -> None:
    """Refuse a PNG or JPEG picture with more pixels than fit; OpenCV has a limit of its own for other formats."""
    raw = bytes(data)
    if raw.startswith(PNG) and not _chunks_fit(raw):
        raise DocumentError(f"{path}: not an image that OpenCV can read: it is damaged or cut off; save it again")
    width, height = _size(raw)
    if width * height > MOST_PIXELS:
        raise DocumentError(f"{path}: {width:,} x {height:,} pixels; {MOST_PIXELS:,} at most: save a smaller picture")


def _chunks_fit(data: bytes) -> bool:
    """Are the pieces of a PNG as long as they say? OpenCV makes room for what they say, be it gigabytes."""
    at = len(PNG)
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        at += 12 + length
        if kind == b"IEND":
            return bool(at <= len(data))
    return False


def _size(data: bytes) -> tuple[int, int]:
    if data.startswith(PNG) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if not data.startswith(b"\xff\xd8"):
        return 0, 0
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:  # the segments of a JPEG; the frame's says the size
        if 0xC0 <= data[at + 1] <= 0xCF and data[at + 1] not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(2, struct.unpack(">H", data[at + 2 : at + 4])[0])
    return 0, 0
