"""The texts of the demo's page and of the element, read from their modules."""

import json
import re
from pathlib import Path

from chat_aio.web.browser_files import BROWSER

TEXTS = BROWSER / "texts"
COMMENT = re.compile(r"^ *//.*$", re.MULTILINE)
JOINED = re.compile(r'" \+\n *"')
FORM = re.compile(r'([{,]\s*)(\w+)(?=: ["{])')
LAST_COMMA = re.compile(r",(\s*})")
PLACEHOLDER = re.compile(r"\{(\w+)\}")

Text = str | dict[str, str]


def texts_of(language: str) -> dict[str, Text]:
    """All texts of a language by their names."""
    found: dict[str, Text] = {}
    for file in sorted((TEXTS / language).glob("*.js")):
        more = texts_in(file)
        assert not found.keys() & more.keys(), f"{file} has a text that another file has"
        found |= more
    return found


def languages() -> list[str]:
    return sorted(path.name for path in TEXTS.iterdir() if path.is_dir())


def placeholders_in(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def texts_in(file: Path) -> dict[str, Text]:
    """A module has one object of plain strings, so that translators need know nothing else."""
    _, _, body = file.read_text().partition(" = ")
    plain = JOINED.sub("", COMMENT.sub("", body.rstrip().removesuffix(";")))
    named = FORM.sub(r'\1"\2"', plain)
    # A name that comes twice would hide the text before.
    pairs = json.loads(LAST_COMMA.sub(r"\1", named), object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"{file} has a text twice"
    return {name: text if isinstance(text, str) else dict(text) for name, text in pairs}
