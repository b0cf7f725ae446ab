"""The page's texts: the same in each language, all of them used, and none that stands elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import chat_aio.plugins  # noqa: F401  what plugins refuse is in the catalogue, too
from chat_aio.demo.page import STATIC
from chat_aio.errors import ChatError
from chat_aio.web.browser_files import BROWSER
from tests.support.page_texts import Text, languages, placeholders_in, texts_of

ENGLISH = texts_of("en")
OTHERS = [language for language in languages() if language != "en"]
MODULES = [
    path
    for path in sorted((*STATIC.rglob("*.js"), *BROWSER.rglob("*.js")))
    if not {"texts", "emoji", "style"} & set(path.parts)
]
"""Those of the demo, and what hosts import."""
SHEETS = (*STATIC.glob("*.css"), *BROWSER.glob("style/*.js"))
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
SAYING = re.compile(r"(?<!\w)say\(")
LITERAL = re.compile(r'"([^"\n]*)"|`([^`\n]*)`')
VALUE = re.compile(r"\$\{[^}]*\}")
BY_CODE = {"language.js", "problems.js"}
"""Where the name of a text is put together."""


def names_of(language: str) -> set[str]:
    return set(texts_of(language))


def code_of(module: Path) -> str:
    return COMMENT.sub("", module.read_text())


def forms_of(text: Text) -> dict[str, str]:
    return text if isinstance(text, dict) else {"other": text}


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_all_texts(language: str) -> None:
    texts = texts_of(language)
    assert texts.keys() == ENGLISH.keys()
    for name, text in texts.items():
        english, forms = forms_of(ENGLISH[name]), forms_of(text)
        assert placeholders_in(forms["other"]) == placeholders_in(english["other"]), name
        assert ("own" in forms) == ("own" in english), name
        assert (forms.keys() - {"own"} == {"other"}) == (english.keys() - {"own"} == {"other"}), (
            name
        )


@pytest.mark.parametrize("language", languages())
def test_texts_are_written_as_texts_are(language: str) -> None:
    for name, text in texts_of(language).items():
        forms = forms_of(text)
        for form, words in forms.items():
            assert form in {"own", "zero", "one", "two", "few", "many", "other"}, name
            assert words == words.strip() != "", name
            assert placeholders_in(words) <= placeholders_in(forms["other"]), name
            assert not re.search(r"\.\.\.|[{}]", re.sub(r"\{\w+\}", "", words)), name
        assert isinstance(text, str) or forms.keys() > {"other"}, name


def test_errors_have_texts_for_readers() -> None:
    """The service's messages are for programmers: the page has its own, for each code."""
    texts = {name.removeprefix("problem."): text for name, text in ENGLISH.items()}
    codes = {name.removeprefix("problem.") for name in ENGLISH if name.startswith("problem.")}
    assert codes - {"UNREACHABLE"} <= ChatError.catalogue.keys()
    for code in codes:
        assert not re.search(r"Retry-After|request body|[a-z][A-Z]", str(texts[code])), code
    # Their messages contain the reason of a host, or the page makes its own text.
    reasons = {"INVALID_INPUT", "MESSAGE_REJECTED", "MESSAGE_HELD", "ATTACHMENT_REJECTED"}
    assert not codes & (reasons | {"SLOW_MODE"})
    assert "RATE_LIMITED" in codes


def test_all_texts_are_used_and_those_used_are_there() -> None:
    said = {name for module in MODULES for name in said_in(module)}
    written = {name for _, _, name in marked_in_the_page()}
    by_code = {name for name in ENGLISH if name.startswith("problem.")}
    assert (said | written) - ENGLISH.keys() == set()
    assert ENGLISH.keys() - said - written - by_code == set()


def said_in(module: Path) -> set[str]:
    """The names that stand in each `say(...)`: at least one, or they could not be compared."""
    if module.name in BY_CODE:
        return set(re.findall(r'say\("([\w.]+)"', code_of(module)))
    code = code_of(module)
    found = set()
    for call in SAYING.finditer(code):
        names = re.match(r'\s*"([\w.]+)"\s*[,)]', code[call.end() :])
        assert names, f"{module.name}: {code[call.start() : call.end() + 40]!r} names no text"
        found.add(names[1])
    return found


NOT_SHOWN = {"chat.js", "fetch-stream.js", "icons.js", "markup.js", "push.js", "push-worker.js"}
"""Modules without words for users, or with errors in English only."""


def test_no_words_stand_in_the_modules() -> None:
    """What looks like words: letters after a capital, or two words beside each other."""
    looks = re.compile(r"^[A-Z][a-z]|[a-z]{2,} [a-z]{2,}")
    found = {
        (module.name, words)
        for module in MODULES
        if module.name not in NOT_SHOWN
        for literal in LITERAL.findall(NO_WORDS.sub("", code_of(module)))
        for words in [VALUE.sub("", "".join(literal))]
        if looks.search(words)
    }
    scripts = ("Han", "Hira", "Kana", "Hang", "Thai", "Lao", "Khmr")
    assert found == {
        *(("terms.js", script) for script in scripts),
        *(("happening-words.js", "no topic"), ("group-activity.js", "no topic")),
        *(("file-drops.js", "Files"), ("notifications.js", "Notification")),
        ("dialog.js", "primary danger"),
        *(("gallery.js", "icon side "), ("search-box.js", "Backspace")),
        *(("first-steps.js", "Start here"), ("problems.js", "TimeoutError")),
        ("texts.js", "no text is named "),
        ("shared-stream.js", "AbortError"),
        # For the developers of a host.
        ("react.js", "this component is not inside a ChatProvider"),
        # As the service would say it: hosts get its messages in English.
        ("entries.js", "Slow mode: try again in  seconds."),
    }


NO_WORDS = re.compile(
    r'^import .*$|\b(class|rel|querySelector\w*|closest)(: |\()"[^"]*"'
    r'|\b(ArrowUp|ArrowDown|ArrowLeft|ArrowRight|Escape|Enter|Tab)\b|"(head|tail) \w+"',
    re.MULTILINE,
)
"""Imports, classes, selectors and keys."""


class Marks(HTMLParser):
    """What stands in the page: (where, what, the name of its text, or "")."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._name = given.get("data-say", "")
        for attribute, mark in MARKS.items():
            if attribute in given or mark in given:
                self.found.append((attribute, given.get(attribute, ""), given.get(mark, "")))

    def handle_endtag(self, tag: str) -> None:
        self._name = ""

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.found.append(("text", data, self._name))


MARKS = {
    "aria-label": "data-say-label",
    "title": "data-say-title",
    "placeholder": "data-say-placeholder",
}


def marked_in_the_page() -> list[tuple[str, str, str]]:
    marks = Marks()
    marks.feed((STATIC / "index.html").read_text())
    return marks.found


def test_the_page_has_the_english_texts_itself() -> None:
    """So it can be read before a script has run, and names each of them for other languages."""
    found = marked_in_the_page()
    assert len(found) > 8
    assert [mark for mark in found if ENGLISH.get(mark[2]) != mark[1]] == []


def test_style_sheets_have_no_words() -> None:
    for sheet in SHEETS:
        drawn = re.findall(r"content: ([^;]+);", sheet.read_text())
        assert not [text for text in drawn if re.search(r'"[^"]*[A-Za-z]', text)], sheet.name


def test_style_sheets_know_no_left_and_right() -> None:
    """In a language that is written from the right all of it is turned."""
    sides = re.compile(
        r"(?<![\w-])(?:(?:margin|padding|border|inset|scroll-\w+)-)?(?:left|right)(?:-\w+)*:"
        r"|(?:text-align|float|clear): (?:left|right)|border-(?:top|bottom)-(?:left|right)"
    )
    four = re.compile(
        r"(?<![\w-])(margin|padding|inset|border-width): "
        r"((?:[^;()]|\((?:[^()]|\([^()]*\))*\))+);"
    )
    corners = re.compile(r"border-radius: [^;]+ [^;]+;")
    for sheet in SHEETS:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        assert not sides.findall(text), sheet.name
        assert not corners.findall(text), sheet.name
        for found in four.finditer(text):
            values = re.split(r" (?![^(]*\))", found[2].strip())
            # The safe area of a screen lies where it lies.
            if len(values) == 4 and "safe-area" not in found[2]:
                assert values[1] == values[3], f"{sheet.name}: {found[0]}"


def test_each_language_names_the_same_emoji() -> None:
    places = sorted((BROWSER / "emoji").glob("*.js"))
    of_each = [place.read_text().split("`")[1].split("\n") for place in places]
    assert len(of_each) == 2
    for lines in of_each:
        named = [line.split(" ") for line in lines if line]
        assert [emoji for emoji, *_ in named] == [text.split(" ")[0] for text in of_each[0] if text]
        names = [name for _, name, *_ in named]
        assert len(set(names)) == len(names)
        assert all(name == name.lower() for name in names)
