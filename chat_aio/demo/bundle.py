"""The page in one file of JavaScript and one of CSS, made of the files on the disk.

Loading its eighty modules one by one takes as many requests. The modules stay what one edits: the
bundle follows them, and `/?modules` shows the page without it.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:class|const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ */\*(?:(?!\*/).)*\*/ *\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)
OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)

STYLE = re.compile(r' *<link rel="stylesheet" href="demo/static/([^"]+)">\n')
SCRIPT = re.compile(r'<script type="module" src="demo/static/([^"]+)"></script>')


@dataclass(frozen=True, slots=True)
class Bundle:
    """The page, and the two files that it loads, by name; `made_of` is how old their sources were.

    Each name has a hash of its content: a browser may keep the file for good.
    """

    page: str
    files: dict[str, str]
    made_of: tuple[float, ...]


def bundled(static: Path, *others: Path) -> Bundle:
    """Make the bundle of `index.html`, whose modules may be in other directories, too. Raises
    ValueError for a module that cannot be in one."""
    made_of = ages(static, *others)
    index = (static / "index.html").read_text()
    (entry,) = SCRIPT.findall(index)
    script = script_of(static / entry)
    styles = "\n".join((static / path).read_text() for path in STYLE.findall(index))
    files = {_named("app", "js", script): script, _named("page", "css", styles): styles}
    script_name, style_name = files
    page = STYLE.sub("", index)
    page = SCRIPT.sub(
        f'<link rel="stylesheet" href="bundle/{style_name}">\n'
        f'  <script type="module" src="bundle/{script_name}"></script>',
        page,
    )
    return Bundle(page, files, made_of)


def ages(*places: Path) -> tuple[float, ...]:
    """When each source in some directories was written."""
    sources = (path for place in places for path in sorted(place.rglob("*.*")))
    return tuple(source.stat().st_mtime for source in sources)


def script_of(entry: Path) -> str:
    """All modules that one leads to, as a script. Raises ValueError, also for modules that import
    one another."""
    order: list[Path] = []
    _place(entry.resolve(), order, ())
    names = {module: f"$${number}" for number, module in enumerate(order)}
    functions = []
    for module in order:
        # A function that returns the exports: names in one module do not hide those in another.
        text, folder = COMMENT.sub("", module.read_text()), module.parent

        def taken(found: re.Match[str], folder: Path = folder) -> str:
            if found[1] is None:
                return ""
            words = re.sub(r"\bas\b", ":", found[1]).strip()
            return f"const {{ {words} }} = {names[(folder / found[2]).resolve()]};\n"

        exports = ", ".join(EXPORT.findall(text))
        body = EXPORT.sub("", IMPORT.sub(taken, text))
        if other := OTHER.search(body):
            raise ValueError(f"{module.name}: {other[0]!r} cannot be bundled")
        functions.append(
            f"const {names[module]} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"
        )
    return "\n".join(functions)


def _place(module: Path, order: list[Path], above: tuple[Path, ...]) -> None:
    """Put a module behind those that it imports."""
    if module in above:
        raise ValueError(f"{module.name} imports itself by way of {above[-1].name}")
    if module not in order:
        for _, place in IMPORT.findall(module.read_text()):
            _place((module.parent / place).resolve(), order, (*above, module))
        order.append(module)


def _named(name: str, kind: str, text: str) -> str:
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{kind}"
