"""The picture of the sample conversations: a moth, taped into a log book, as a PNG."""

import struct
import zlib

WIDTH, HEIGHT = 480, 320
LINE_HEIGHT = 32

Colour = tuple[int, int, int]

PAPER: Colour = (250, 244, 228)
LINE: Colour = (178, 203, 222)
MARGIN: Colour = (222, 142, 132)
TAPE: Colour = (232, 219, 166)
SHADOW: Colour = (219, 210, 190)

# Ellipses, each painted over those before it: how far its middle is from that of the moth, its half
# axes and its colour.
WINGS = (
    (70, 34, 74, 40, (122, 92, 62)),
    (52, -22, 88, 48, (150, 116, 80)),
    (84, -28, 14, 14, (74, 52, 36)),
    (84, -28, 6, 6, (214, 186, 142)),
    (0, 4, 15, 56, (92, 68, 46)),
    (0, -56, 13, 12, (74, 52, 36)),
)


def moth() -> bytes:
    """The picture. It takes a part of a second: not for an event loop."""
    rows = (b"\0" + bytes(part for x in range(WIDTH) for part in _at(x, y)) for y in range(HEIGHT))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(rows), 9)
    chunks = _chunk(b"IHDR", head) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _at(x: int, y: int) -> Colour:
    # Both halves of the moth are one, so what is left of the middle is looked up on the right.
    right, down = abs(x - WIDTH // 2), y - HEIGHT // 2
    if abs(down) < 18 and 96 < right < 190:
        return TAPE
    for across, along, width, height, colour in reversed(WINGS):
        if _within(right - across, down - along, width, height):
            return colour
    if _within(right - 56, down - 8, 98, 78):
        return SHADOW
    return MARGIN if x in (64, 65) else LINE if y % LINE_HEIGHT == 0 else PAPER


def _within(x: int, y: int, width: int, height: int) -> bool:
    """Whether a point is within an ellipse around 0, 0."""
    return (x * height) ** 2 + (y * width) ** 2 <= (width * height) ** 2
