"""`chat-aio new`: writes an app with a chat in it, from the templates in `new_app`."""

import importlib.util
import json
import keyword
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import click

TEMPLATES = Path(__file__).parent / "new_app"
SUFFIX = ".template"
NAMED = "myapp"
"""The name of the app in the templates."""

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?")
OURS = re.compile(r"\{chat-aio(\[[a-z,]+\])?\}")
CHECKOUT = "{checkout}\n"
"""Stands in the templates where a chat from a checkout is to be told of."""

TAKEN = {"tests", *sys.stdlib_module_names}
NEEDED = {
    *("aiohttp", "aiohttp_session", "aiohttp_sse", "chat_aio", "click", "cryptography", "orjson"),
    *("bson", "gridfs", "pymongo", "pydantic", "pydantic_core", "regex", "typing_extensions"),
    *("annotated_types", "typing_inspection", "cffi", "pycparser", "dns", "fiftyone"),
    *("aiohappyeyeballs", "aiosignal", "attr", "attrs", "frozenlist", "idna", "multidict"),
    *("propcache", "yarl", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest"),
    *("pytest_asyncio", "backports", "pip"),
}
"""Packages that the app needs: installed beside it, though perhaps not here."""

DATABASES = {"admin", "config", "local"}
"""MongoDB's own; the app's database has its name."""

LONGEST = 63
"""Bytes in the name of a database."""


class WrongName(click.ClickException):
    """A name that no app can have."""

    exit_code = 2


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option(
    "--into", type=click.Path(path_type=Path), help="The folder to make; by default the name."
)
def new(name: str, into: Path | None) -> None:
    """Write an app with a login, a page and a chat, and its tests."""
    _require_name(name)
    folder = into or Path(name)
    try:
        _require_free(folder)
        _write(name, folder)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    click.echo(f"Made {folder}/:")
    for path, _ in _files(name):
        click.echo(f"  {path}")
    steps = [] if folder.samefile(Path()) else [f"cd {folder}"]
    steps.append("make run    # it installs what it needs, then see README.md")
    click.echo("\n  ".join(["Next:", *steps]))
    if note := _of_checkout():
        click.echo(note)


def _require_name(name: str) -> None:
    """Refuse what can be no package, or would hide one."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise WrongName(
            f"{name!r} can be no name of a Python package: take letters, digits and underscores, "
            "and begin with a letter, such as my_app"
        )
    if len(name) > LONGEST:
        raise WrongName(f"the app's database has its name, which may have {LONGEST} characters")
    if name.lower() in DATABASES:
        raise WrongName(f"{name} is a database of MongoDB's own: take another name")
    if name in TAKEN or name.lower() in NEEDED or _is_installed(name):
        raise WrongName(f"there is a package {name} already: take another name")


def _is_installed(name: str) -> bool:
    # An empty folder in which Python looks is a package without an origin: the one to be filled.
    found = importlib.util.find_spec(name)
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return found is not None and found.origin is not None
    return True


def _require_free(folder: Path) -> None:
    if folder.is_dir():
        if any(folder.iterdir()):
            raise click.ClickException(f"{folder} is not empty, and nothing is written into it")
    elif folder.exists() or folder.is_symlink():
        raise click.ClickException(f"{folder} is there already, and is no folder")
    elif not folder.absolute().parent.is_dir():
        raise click.ClickException(f"there is no folder {folder.absolute().parent}")


def _write(name: str, folder: Path) -> None:
    """Write all files, or none. A folder that is there stays the one that it is."""
    made: list[Path] = []
    try:
        for path, text in _files(name):
            file = folder / path
            for place in (folder, file.parent):
                if not place.is_dir():
                    place.mkdir()
                    made.append(place)
            with file.open("x") as opened:
                made.append(file)
                opened.write(text)
    except BaseException:
        for created in reversed(made):
            created.rmdir() if created.is_dir() else created.unlink()
        raise


def _files(name: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each file."""
    note = _of_checkout()
    for template in sorted(TEMPLATES.rglob(f"*{SUFFIX}")):
        path = template.relative_to(TEMPLATES).as_posix().removesuffix(SUFFIX)
        text = OURS.sub(lambda found: _requirement(found[1] or ""), template.read_text())
        text = text.replace(CHECKOUT, f"\n{note}\n" if note else "")
        yield re.sub(rf"\b{NAMED}\b", name, path), re.sub(rf"\b{NAMED}\b", name, text)


def _requirement(extras: str) -> str:
    """What pip is to install: this chat_aio, from where it was installed itself."""
    origin = _origin()
    if origin is None:
        return f"chat-aio{extras}>={metadata.distribution('chat-aio').version}"
    url = origin["url"]
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"chat-aio{extras} @ {url}"


def _of_checkout() -> str | None:
    """A sentence about a chat that only this machine has."""
    origin = _origin()
    if origin is None or not origin["url"].startswith("file:"):
        return None
    return (
        "The requirements name a folder of this machine as chat-aio: on a server, put a released "
        "version or a repository in its place."
    )


def _origin() -> Any:
    """Where pip has found this chat_aio; None is an index."""
    said = metadata.distribution("chat-aio").read_text("direct_url.json")
    return json.loads(said or "null")
