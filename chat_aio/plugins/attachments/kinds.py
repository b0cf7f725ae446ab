"""What kind a file is, by its first bytes; the client's content type does not count.

Our own table: packages guess more kinds, and so are wrong more often. What matters is that
nothing is taken for a kind that browsers may show, unless it begins like one.
"""

import re

HEAD_BYTES = 4096
"""How many bytes are enough to tell."""

UNKNOWN = "application/octet-stream"

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\x7fELF", "application/x-executable"),
)

_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}

_BRANDS = {
    b"avif": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
}
"""The kinds of an ISO media file by its brand; with any other it is MP4."""

_OFFICE = "application/vnd.openxmlformats-officedocument."
_IN_ZIP: tuple[tuple[bytes, str], ...] = (
    (b"word/", f"{_OFFICE}wordprocessingml.document"),
    (b"xl/", f"{_OFFICE}spreadsheetml.sheet"),
    (b"ppt/", f"{_OFFICE}presentationml.presentation"),
)
_MIMETYPE = re.compile(rb"mimetype(application/(?:vnd\.oasis\.opendocument\.[a-z]+|epub\+zip))")

_MARKUP = re.compile(rb"<(!doctype\s+html|html|head|body|script|iframe|svg|\?xml|!--)", re.I)

_SHOWN: dict[str, tuple[str, ...]] = {
    "image/png": (".png", ".apng"),
    "image/jpeg": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "image/avif": (".avif",),
    "video/mp4": (".mp4", ".m4v", ".3gp", ".3g2"),
    "video/webm": (".webm", ".weba"),
    "audio/mpeg": (".mp3", ".mpga"),
    "audio/ogg": (".ogg", ".oga", ".opus", ".ogv", ".spx"),
    "audio/wav": (".wav", ".wave"),
    "audio/mp4": (".m4a", ".m4b", ".mp4"),
    "audio/flac": (".flac",),
}
"""The kinds that browsers show, with the endings of their names."""


def kind_of(head: bytes) -> str:
    """The content type of a file that begins with these bytes, of which HEAD_BYTES are enough."""
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    # Containers: the kind is further inside.
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], UNKNOWN)
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "video/mp4")
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head[:64] else "video/x-matroska"
    if head.startswith(b"PK\x03\x04"):
        # Office files are archives, whose first entries give them away.
        if found := _MIMETYPE.search(head[:128]):
            return found[1].decode()
        return next((kind for folder, kind in _IN_ZIP if folder in head), "application/zip")
    return _kind_of_text(head)


def may_be_shown(kind: str) -> bool:
    """Whether a browser may show a file of this kind by itself: images, sound and video, in which
    nothing runs. Not PDF, SVG and HTML."""
    return kind in _SHOWN


def with_ending(name: str, kind: str) -> str:
    """The name of a file, which ends as its kind does if browsers show that kind: saved by a
    reader, an image must not be opened as a page."""
    endings = _SHOWN.get(kind, ("",))
    return name if name.lower().endswith(endings) else name + endings[0]


def is_among(kind: str, listed: frozenset[str]) -> bool:
    """Whether a list has this kind, or its beginning with a star, such as `image/*`."""
    return kind in listed or f"{kind.partition('/')[0]}/*" in listed or "*" in listed


def _kind_of_text(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return UNKNOWN  # UTF-16, in which browsers would see markup that we do not.
    try:
        # The last character may be cut.
        text = head[:HEAD_BYTES].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not head or error.start < min(len(head), HEAD_BYTES) - 3:
            return UNKNOWN
        text = head[: error.start].decode("utf-8-sig")
    if found := _MARKUP.search(head):
        opening = found[1].lower()
        if opening == b"svg" or (opening in (b"?xml", b"!--") and b"<svg" in head.lower()):
            return "image/svg+xml"
        return "application/xml" if opening == b"?xml" else "text/html"
    controls = set(text) & _CONTROLS
    return UNKNOWN if controls or not text else "text/plain"


_CONTROLS = {chr(code) for code in range(32)} - set("\t\n\r\f\x1b")
