"""Modules in few files: a core, and parts that are loaded later."""

import re
from pathlib import Path

import pytest

from chat_aio.web.browser_files import BROWSER, ELEMENT
from chat_aio.web.bundle import Bundle, bundled

MODULE = re.compile(r'^"([\w/-]+)": \(\) => \{$', re.MULTILINE)
STATIC_IMPORT = re.compile(r"^import ", re.MULTILINE)
MODULES = {
    "app": 'import { CORE } from "./core.js";\n'
    'export const first = () => import("./first.js");\n'
    'export const second = () => import("./second.js");\n',
    "core": "export const CORE = 1;\n",
    "first": 'import { CORE } from "./core.js";\nimport { BOTH } from "./both.js";\n'
    "export const FIRST = CORE + BOTH;\n",
    "second": 'import { BOTH } from "./both.js";\n'
    'export const first = () => import("./first.js");\nexport const SECOND = BOTH;\n',
    "both": "export const BOTH = 1;\n",
}


def bundle_of(folder: Path, **changed: str) -> Bundle:
    for name, text in {**MODULES, **changed}.items():
        (folder / f"{name}.js").write_text(text)
    return bundled(folder / "app.js", "./bundle")


def modules_in(text: str) -> list[str]:
    return MODULE.findall(text)


def test_each_module_is_in_one_file(tmp_path: Path) -> None:
    """What two parts need is in the first of them."""
    bundle = bundle_of(tmp_path)
    assert modules_in(bundle.core) == ["core", "app"]
    first, second = bundle.files
    assert modules_in(bundle.files[first]) == ["both", "first"]
    assert modules_in(bundle.files[second]) == ["second"]
    assert bundle.parts == {"first": [first], "second": [first, second]}


def test_the_same_modules_have_the_same_names(tmp_path: Path) -> None:
    assert bundle_of(tmp_path) == bundle_of(tmp_path)


def test_a_name_changes_with_the_content_of_its_file_alone(tmp_path: Path) -> None:
    before = bundle_of(tmp_path)
    core = bundle_of(tmp_path, core="export const CORE = 2;\n")
    assert core.files == before.files
    second = bundle_of(tmp_path, second="export const SECOND = 2;\n")
    assert second.core != before.core
    (same, *old), (still, *new) = before.files, second.files
    assert same == still
    assert len(old) == 1
    assert old != new


def test_the_element_is_in_files_without_repetitions() -> None:
    bundle = bundled(BROWSER / ELEMENT, "./bundle")
    texts = [bundle.core, *bundle.files.values()]
    modules = [name for text in texts for name in modules_in(text)]
    assert len(modules) == len(set(modules))
    assert not [text for text in texts if STATIC_IMPORT.search(text)]
    assert {"texts/en", "texts/de", "view/chat-view", "view/talk"} <= bundle.parts.keys()
    # Both languages, the names of emoji and the views are not in the core.
    assert not {
        name for name in modules_in(bundle.core) if name.startswith(("texts/en", "texts/de"))
    }
    assert "emoji" not in modules_in(bundle.core)
    assert "view/frame" not in modules_in(bundle.core)


@pytest.mark.parametrize(
    "other",
    [
        "export default 5;\n",
        'import all from "./core.js";\n',
        "export { a };\n",
        "const b = await import(place);\n",
        'import { a } from "./app.js";\n',
    ],
)
def test_what_cannot_be_bundled_is_said(tmp_path: Path, other: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be bundled|imports itself"):
        bundle_of(tmp_path, core=other, app='import { a } from "./core.js";\n')
