"""`chat-aio new`: creates an app with a chat, from the templates in `new_app`."""

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
"""Placeholder in the templates for a note about a chat from a checkout."""

TAKEN = {"tests", *sys.stdlib_module_names}
NEEDED = {
    *("aiohttp", "aiohttp_session", "aiohttp_sse", "chat_aio", "click", "cryptography", "orjson"),
    *("bson", "gridfs", "pymongo", "pydantic", "pydantic_core", "regex", "typing_extensions"),
    *("annotated_types", "typing_inspection", "cffi", "pycparser", "dns", "fiftyone"),
    *("aiohappyeyeballs", "aiosignal", "attr", "attrs", "frozenlist", "idna", "multidict"),
    *("propcache", "yarl", "iniconfig", "packaging", "pluggy", "py", "pygments", "pytest"),
    *("pytest_asyncio", "backports", "pip"),
}
"""Packages that are installed with the app, though perhaps not in this environment."""

DATABASES = {"admin", "config", "local"}
"""MongoDB's own databases; the app's database has the app's name."""

LONGEST = 63
"""Bytes in the name of a database."""


class WrongName(click.ClickException):
    """An invalid name for an app."""

    exit_code = 2


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option(
    "--into", type=click.Path(path_type=Path), help="Folder to create; by default the name."
)
def new(name: str, into: Path | None) -> None:
    """Create an app with a login, a page and a chat, and its tests."""
    _require_name(name)
    folder = into or Path(name)
    try:
        if folder.is_dir():
            if any(folder.iterdir()):
                raise click.ClickException(f"{folder} is not empty: nothing was written")
        elif folder.exists() or folder.is_symlink():
            raise click.ClickException(f"{folder} already exists, and is no folder")
        # Parents are not made: a mistyped path would spread new folders.
        elif not folder.absolute().parent.is_dir():
            raise click.ClickException(f"there is no folder {folder.absolute().parent}")
        _write(name, folder)
    except OSError as error:
        raise click.ClickException(f"{folder} cannot be written: {error.strerror}") from None
    click.echo(f"Made {folder}/:")
    for path, _ in _files(name):
        click.echo(f"  {path}")
    steps = [] if folder.samefile(Path()) else [f"cd {folder}"]
    steps.append("make run    # installs what the app needs; then see README.md")
    click.echo("\n  ".join(["Next:", *steps]))
    if note := _of_checkout():
        click.echo(note)


def _require_name(name: str) -> None:
    """Refuse names that cannot be a package, or would hide one."""
    # Not `isidentifier`: the name is also that of a database and of a folder.
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise WrongName(
            f"{name!r} is no valid name of a Python package: use letters, digits and underscores, "
            "starting with a letter, such as my_app"
        )
    if len(name) > LONGEST:
        raise WrongName(f"the app's database gets its name, which may have {LONGEST} characters")
    if name.lower() in DATABASES:
        raise WrongName(f"{name} is one of MongoDB's own databases: choose another name")
    if name in TAKEN or name.lower() in NEEDED or _is_installed(name):
        raise WrongName(f"there is a package {name} already: choose another name")


def _is_installed(name: str) -> bool:
    # An empty folder in which Python looks is a package without an origin: the one to be filled.
    found = importlib.util.find_spec(name)
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return found is not None and found.origin is not None
    return True


def _write(name: str, folder: Path) -> None:
    """Write all files, or none. An existing folder is filled, not replaced."""
    made: list[Path] = []
    try:
        for path, text in _files(name):
            file = folder / path
            for place in (folder, file.parent):
                if not place.is_dir():
                    place.mkdir()
                    made.append(place)
            # `x`: a file that somebody makes in the meantime is not overwritten.
            with file.open("x") as opened:
                made.append(file)
                opened.write(text)
    except BaseException:
        # A folder must be empty before it can be removed.
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
    """The requirement for pip: this chat_aio, from the source of its own installation."""
    origin = _origin()
    if origin is None:
        return f"chat-aio{extras}>={metadata.distribution('chat-aio').version}"
    url = origin["url"]
    # At its commit: a branch may have moved on.
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"chat-aio{extras} @ {url}"


def _of_checkout() -> str | None:
    """A note about a chat that only this machine has."""
    origin = _origin()
    if origin is None or not origin["url"].startswith("file:"):
        return None
    return (
        "The requirements contain a folder of this machine as chat-aio: on a server, replace it by "
        "a released version or a repository."
    )


def _origin() -> Any:
    """The source from which pip installed this chat_aio; None is an index."""
    said = metadata.distribution("chat-aio").read_text("direct_url.json")
    return json.loads(said or "null")
