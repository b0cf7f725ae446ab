"""A separate program that makes thumbnails: images come by standard input, one after the other.

It imports nothing of the chat, and may die of an image at any time. Each image is its length in
eight bytes and then the bytes; the answer is a line of JSON, with `length` bytes of WebP behind it.
"""

import io
import json
import sys
from typing import Any

from PIL import Image, ImageOps

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
MOST_MEMORY = 2 * 1024**3
ORIENTATION, TURNED = 0x0112, 5
"""The tag of a photograph's orientation, and the first value that means a quarter turn."""


def limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Where there is no such thing, only the time is limited.
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def answer(data: bytes, *, most_pixels: int, side: int) -> tuple[dict[str, Any], bytes]:
    """The size of an image as it is shown, and its thumbnail; only the size for one of too many
    pixels, whose header alone is read."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        width, height = image.size
        # First of all: already the orientation of a PNG is found only by decoding it.
        if width * height > most_pixels:
            return {"width": width, "height": height, "length": 0}, b""
        if image.getexif().get(ORIENTATION, 1) >= TURNED:
            width, height = height, width
        image.draft("RGB", (2 * side, 2 * side))
        image.thumbnail((side, side))
        turned = ImageOps.exif_transpose(image)
        kept = turned.convert("RGBA" if turned.has_transparency_data else "RGB")
        out = io.BytesIO()
        kept.save(out, "WEBP", quality=80)
    return {"width": width, "height": height, "length": out.tell()}, out.getvalue()


def main() -> None:
    most_pixels, side = map(int, sys.argv[1:3])
    # Ours comes first, and returns its findings instead of raising.
    Image.MAX_IMAGE_PIXELS = None
    limit_memory()
    while len(head := sys.stdin.buffer.read(8)) == 8:
        data = sys.stdin.buffer.read(int.from_bytes(head, "big"))
        try:
            found, made = answer(data, most_pixels=most_pixels, side=side)
        except Exception:  # Whatever a broken image makes of the decoder.
            found, made = {"length": 0}, b""
        sys.stdout.buffer.write(json.dumps(found).encode() + b"\n" + made)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
