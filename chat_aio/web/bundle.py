"""JavaScript modules in few files, made of the files on the disk: the core, with all that an entry
imports, and the parts that it loads when they are needed, by `import("./x.js")`.

Loading a hundred modules one by one takes as many requests. The modules stay the sources: a bundle
follows them.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

IMPORT = re.compile(r'^import (?:\{([^}]*)\} from )?"(\.[^"]+)";\n', re.MULTILINE)
LATER = re.compile(r'\bimport\("(\.[^"]+)"\)')
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|const|function) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ */\*(?:(?!\*/).)*\*/ *\n|^ *//[^\n]*\n", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ +", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)

LOADER = """\
const $made = {};
const $use = (name) => ($made[name] ??= $makers[name]());
const $files = {};
const $failures = {};
const $add = (file) => ($files[file] ??= import(`$folder/${file}${$failures[file] ?? ""}`).then(
({ default: part }) => Object.assign($makers, part($use, $load)),
(error) => {
$files[file] = undefined;
$failures[file] = `${$failures[file] ?? "?"}-`;
throw error;
}));
const $load = async (name) => {
await Promise.all($parts[name].map($add));
return $use(name);
};
"""
"""A module is made when it is first used, so parts may arrive in any order. Browsers may remember
that a file could not be loaded: it has another address then."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The text of the core, and those of the parts by the names of their files.

    A part knows no other file, and only the core knows them all: so each name has the hash of its
    content, and `parts` lists the files that an import of a module needs.
    """

    core: str
    files: dict[str, str]
    parts: dict[str, list[str]]


class Modules:
    """The modules that an entry leads to, and the file of every one."""

    def __init__(self, entry: Path) -> None:
        self.entry = entry.resolve()
        self._texts: dict[Path, str] = {}
        self._owners: dict[Path, Path] = {}
        self.parts: dict[Path, list[Path]] = {}
        """By the modules that are imported later: the files' first modules that they need."""
        self._own(self.entry)
        self._root = commonpath([module.parent for module in self._owners])

    def of(self, first: Path) -> list[Path]:
        """The modules in the file of a first module."""
        return [module for module, owner in self._owners.items() if owner == first]

    def name(self, module: Path) -> str:
        return module.relative_to(self._root).with_suffix("").as_posix()

    def packed(self, module: Path) -> str:
        """Without comments and indentation."""
        if module not in self._texts:
            self._texts[module] = INDENTED.sub("", COMMENT.sub("", module.read_text()))
        return self._texts[module]

    def _own(self, first: Path) -> None:
        """Put what a module leads to in its file, unless it is in one already."""
        order: list[Path] = []
        self._place(first, order, ())
        for module in order:
            # What a file of an earlier part has stays there: it is never loaded twice.
            self._owners.setdefault(module, first)
        owners = dict.fromkeys(self._owners[module] for module in order)
        self.parts[first] = [owner for owner in owners if owner != self.entry]
        for module in order:
            for place in LATER.findall(self.packed(module)):
                if (later := (module.parent / place).resolve()) not in self.parts:
                    self._own(later)

    def _place(self, module: Path, order: list[Path], above: tuple[Path, ...]) -> None:
        """Put a module behind those that it imports."""
        if module in above:
            raise ValueError(f"{module.name} imports itself by way of {above[-1].name}")
        if module not in order:
            for _, place in IMPORT.findall(self.packed(module)):
                self._place((module.parent / place).resolve(), order, (*above, module))
            order.append(module)

    def function(self, module: Path) -> str:
        """A function that returns the exports: names in one module do not hide those in another."""

        def name(place: str) -> str:
            return json.dumps(self.name((module.parent / place).resolve()))

        def taken(found: re.Match[str]) -> str:
            if found[1] is None:
                return f"$use({name(found[2])});\n"
            words = re.sub(r"\bas\b", ":", found[1]).strip()
            return f"const {{ {words} }} = $use({name(found[2])});\n"

        text = self.packed(module)
        exports = ", ".join(EXPORT.findall(text))
        body = LATER.sub(lambda found: f"$load({name(found[1])})", IMPORT.sub(taken, text))
        body = EXPORT.sub("", body)
        # Such as an export of a list, which would be left out without a word.
        if other := OTHER.search(body):
            raise ValueError(f"{module.name}: {other[0]!r} cannot be bundled")
        return f"{json.dumps(self.name(module))}: () => {{\n{body}\nreturn {{ {exports} }};\n}},\n"


def bundled(entry: Path, folder: str) -> Bundle:
    """The core is a module with the exports of `entry`; the parts are in `folder`, seen from there.

    A module that several parts need is in the first of them. Raises ValueError for
    modules that cannot be bundled, also for those that import one another.
    """
    modules = Modules(entry)
    files, named_as = {}, {}
    for first in modules.parts:
        # A part whose modules are all in earlier files has none.
        if first != modules.entry and (own := modules.of(first)):
            makers = "".join(map(modules.function, own))
            text = f"export default ($use, $load) => ({{\n{makers}}});\n"
            named_as[first] = named(modules.name(first).replace("/", "-"), "js", text)
            files[named_as[first]] = text
    parts = {
        modules.name(module): [named_as[first] for first in needed]
        for module, needed in modules.parts.items()
        if module != modules.entry
    }
    makers = "".join(map(modules.function, modules.of(modules.entry)))
    exports = ", ".join(EXPORT.findall(modules.packed(modules.entry)))
    begun = f"const $makers = {{\n{makers}}};\nconst $parts = {json.dumps(parts)};\n"
    ended = f"export const {{ {exports} }} = $use({json.dumps(modules.name(modules.entry))});\n"
    return Bundle(begun + LOADER.replace("$folder", folder) + ended, files, parts)


def named(name: str, kind: str, text: str) -> str:
    """The name of a file that has a hash of its content: a browser may keep it for good."""
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{kind}"
