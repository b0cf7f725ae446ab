"""The page in few files of JavaScript and one of CSS, made of the files on the disk.

`/?modules` shows the page without them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from chat_aio.web.bundle import bundled as modules_bundled
from chat_aio.web.bundle import named
from chat_aio.web.static_file import KEPT, StaticFile

STYLE = re.compile(r' *<link rel="stylesheet" href="demo/static/([^"]+)">\n')
SCRIPT = re.compile(r'<script type="module" src="demo/static/([^"]+)"></script>')

FIRST = ("demo/static/chat", "browser/view/chat-view", "browser/view/sidebar")
"""The parts that the page needs next: browsers load them together with the script."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The page, and the files that it loads, by name.

    Each name has a hash of its content: a browser may keep the file for good.
    """

    page: str
    files: dict[str, StaticFile]


def bundled(static: Path, *others: Path) -> Bundle:
    """The bundle of `index.html`, whose modules may be in other directories, too: made again when
    its sources have changed. Raises ValueError for a module that cannot be in one."""
    return _made(static, _ages(static, *others))


@lru_cache(maxsize=1)
def _made(static: Path, _: tuple[float, ...]) -> Bundle:
    index = (static / "index.html").read_text()
    (entry,) = SCRIPT.findall(index)
    bundle = modules_bundled(static / entry, ".")
    styles = "\n".join((static / path).read_text() for path in STYLE.findall(index))
    script_name, style_name = named("app", "js", bundle.core), named("page", "css", styles)
    scripts = {script_name: bundle.core, **bundle.files}
    files = {
        style_name: StaticFile(styles.encode(), "text/css", KEPT),
        **{
            name: StaticFile(text.encode(), "text/javascript", KEPT)
            for name, text in scripts.items()
        },
    }
    needed = dict.fromkeys(name for part in FIRST for name in bundle.parts[part])
    hints = "".join(f'  <link rel="modulepreload" href="bundle/{name}">\n' for name in needed)
    page = STYLE.sub("", index)
    page = SCRIPT.sub(
        f'<link rel="stylesheet" href="bundle/{style_name}">\n{hints}'
        f'  <script type="module" src="bundle/{script_name}"></script>',
        page,
    )
    return Bundle(page, files)


def _ages(*places: Path) -> tuple[float, ...]:
    """When each source in some directories was written."""
    sources = (path for place in places for path in sorted(place.rglob("*.*")))
    return tuple(source.stat().st_mtime for source in sources)
