"""What <chat-aio> says: the same in each language, all of it said, and nothing said otherwise."""

import re

import pytest

import chat_aio.plugins  # noqa: F401  what plugins refuse is in the catalogue, too
from chat_aio.errors import ChatError
from chat_aio.web.browser_files import BROWSER
from tests.support.page_texts import Text, placeholders_in, texts_in

FILES = {path.stem: path for path in sorted(BROWSER.glob("element/words-*.js"))}
ENGLISH = texts_in(FILES["words-en"])
CODE = "".join(
    file.read_text() for file in sorted(BROWSER.glob("element/*.js")) if file.stem not in FILES
)
SAID = {*re.findall(r'\bsay\("([\w.]+)"', CODE)}


def forms_of(text: Text) -> dict[str, str]:
    return text if isinstance(text, dict) else {"other": text}


def test_there_are_several_languages() -> None:
    assert {"words-en", "words-de"} <= FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_each_language_has_all_words(name: str) -> None:
    words = texts_in(FILES[name])
    assert words.keys() == ENGLISH.keys()
    for key, text in words.items():
        assert forms_of(text).keys() == forms_of(ENGLISH[key]).keys(), key
        expected = placeholders_in(forms_of(ENGLISH[key])["other"])
        assert all(placeholders_in(form) == expected for form in forms_of(text).values()), key
        assert all(form.strip() == form and form for form in forms_of(text).values()), key


def test_all_words_are_said() -> None:
    named = {key for key in ENGLISH if not key.startswith("problem.")}
    assert {key for key in named if f'"{key}"' not in CODE} == set()
    assert named >= SAID


def test_what_is_refused_has_the_codes_of_the_service() -> None:
    codes = {key.removeprefix("problem.") for key in ENGLISH if key.startswith("problem.")}
    assert codes - ChatError.catalogue.keys() - {"UNREACHABLE"} == set()
