"""The stored name of a file: the client's, without harmful characters."""

import re
import unicodedata

MAX_NAME_BYTES = 200
NAMELESS = "file"

_SPACES = re.compile(r"\s+")
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_MOST_LOOKED_AT = 1024


def cleaned(given: str) -> str:
    """The last part of a path, without control characters, invisible ones and those that turn the
    direction of writing, or that no file system takes; at most 200 bytes, with its ending."""
    last = re.split(r"[/\\]", given[-_MOST_LOOKED_AT:])[-1]
    normal = unicodedata.normalize("NFC", last)
    # Without control characters, format characters, surrogates and private ones.
    visible = "".join(
        character
        for character in normal
        if character == " " or not unicodedata.category(character).startswith(("C", "Zl", "Zp"))
    )
    name = _FORBIDDEN.sub("_", _SPACES.sub(" ", visible)).strip(" .")
    if len(name.encode()) > MAX_NAME_BYTES:
        stem, dot, ending = name.rpartition(".")
        if not stem or len(ending.encode()) > 20:
            stem, dot, ending = name, "", ""
        room = MAX_NAME_BYTES - len(f"{dot}{ending}".encode())
        # The cut may be within a character, which is dropped.
        name = stem.encode()[:room].decode(errors="ignore").rstrip(" .") + dot + ending
    return name or NAMELESS
