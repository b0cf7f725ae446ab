"""`chat-aio new`: writes an app with a chat in it, from the templates in `new_app`."""

import importlib.util
import json
import keyword
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click

TEMPLATES = Path(__file__).parent / "new_app"
SUFFIX = ".template"
NAMED = "myapp"
"""The name of the app in the templates."""

NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?")
OURS = re.compile(r"\{chat-aio(\[[a-z,]+\])?\}")
TAKEN = {"tests", *sys.stdlib_module_names}


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
    click.echo(
        f"Next:\n  cd {folder}\n  make run    # it installs what it needs, then see README.md"
    )


def _require_name(name: str) -> None:
    """Refuse what can be no package, or would hide one."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise WrongName(
            f"{name!r} can be no name of a Python package: take letters, digits and underscores, "
            "and begin with a letter, such as my_app"
        )
    if name in TAKEN or _is_installed(name):
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
    """Write all files, or none: they become the folder when all of them are there."""
    beside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.absolute().parent))
    made = beside / name
    try:
        for path, text in _files(name):
            file = made / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        os.replace(made, folder)
    finally:
        shutil.rmtree(beside)


def _files(name: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each file."""
    for template in sorted(TEMPLATES.rglob(f"*{SUFFIX}")):
        path = template.relative_to(TEMPLATES).as_posix().removesuffix(SUFFIX)
        text = OURS.sub(lambda found: _requirement(found[1] or ""), template.read_text())
        yield re.sub(rf"\b{NAMED}\b", name, path), re.sub(rf"\b{NAMED}\b", name, text)


def _requirement(extras: str) -> str:
    """What pip is to install: this chat_aio, from where it was installed itself."""
    ours = metadata.distribution("chat-aio")
    origin = json.loads(ours.read_text("direct_url.json") or "null")
    if origin is None:
        return f"chat-aio{extras}>={ours.version}"
    url = origin["url"]
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"chat-aio{extras} @ {url}"
