"""JavaScript modules in one file, made of the files on the disk.

Loading a hundred modules one by one takes as many requests. The modules stay the sources: a bundle
follows them.
"""

import hashlib
import re
from pathlib import Path

IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:class|const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ */\*(?:(?!\*/).)*\*/ *\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ +", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


def module_of(entry: Path) -> str:
    """The same as a module, with the exports of `entry`. Raises ValueError as `script_of` does."""
    functions = _functions_of(entry)
    exports = ", ".join(EXPORT.findall(entry.read_text()))
    # Every module is placed behind its imports, so the entry is the last one.
    return "\n".join([*functions, f"export const {{ {exports} }} = $${len(functions) - 1};\n"])


def named(name: str, kind: str, text: str) -> str:
    """The name of a file that has a hash of its content: a browser may keep it for good."""
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{kind}"


def script_of(entry: Path) -> str:
    """All modules that one leads to, as a script. Raises ValueError, also for modules that import
    one another."""
    return "\n".join(_functions_of(entry))


def _functions_of(entry: Path) -> list[str]:
    """A constant for each module, behind those that it imports."""
    order: list[Path] = []
    _place(entry.resolve(), order, ())
    names = {module: f"$${number}" for number, module in enumerate(order)}
    functions = []
    for module in order:
        # A function that returns the exports: names in one module do not hide those in another.
        text, folder = _packed(module), module.parent

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
    return functions


def _packed(module: Path) -> str:
    """Without comments and indentation."""
    return INDENTED.sub("", COMMENT.sub("", module.read_text()))


def _place(module: Path, order: list[Path], above: tuple[Path, ...]) -> None:
    """Put a module behind those that it imports."""
    if module in above:
        raise ValueError(f"{module.name} imports itself by way of {above[-1].name}")
    if module not in order:
        for _, place in IMPORT.findall(module.read_text()):
            _place((module.parent / place).resolve(), order, (*above, module))
        order.append(module)
