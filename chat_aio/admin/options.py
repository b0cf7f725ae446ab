"""The options that the commands share, and their types."""

from collections.abc import Callable
from datetime import datetime
from typing import get_args

import click
from pydantic import TypeAdapter, ValidationError

from chat_aio.schema.fields import Moment, is_id
from chat_aio.schema.models import ReportStatus, TargetType
from chat_aio.server.settings import SETTINGS, text_of
from chat_aio.server.sources import CONFIG_FLAG, CONFIG_VARIABLE

Command = Callable[..., None]

STATUSES = click.Choice(get_args(ReportStatus))
DECISIONS = click.Choice(["triaged", "resolved", "dismissed"])
TARGET_TYPES = click.Choice(get_args(TargetType))

EMPTY: tuple[object, ...] = (None, "", [], {})

_MOMENT = TypeAdapter[datetime](Moment)


def moment(text: str) -> datetime:
    """A time, in the format of the HTTP API. Raises BadParameter."""
    try:
        return _MOMENT.validate_python(text)
    except ValidationError:
        example = "ISO 8601 with an offset, such as 2026-01-31T09:30:00Z"
        raise click.BadParameter(f"{text!r} is not a time: {example}") from None


def an_id(text: str) -> str:
    """A valid id. Raises BadParameter for any other text."""
    if not is_id(text):
        raise click.BadParameter("an id is 1 to 256 characters, not blank, without NUL")
    return text


limit = click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Maximum number of rows, newest first.",
)


def setting_options(*names: str) -> Callable[[Command], Command]:
    """Add the flags of these settings, which may also come from the environment and a file."""

    def add(command: Command) -> Command:
        # In reverse: click lists the option first that is applied last.
        for name in reversed(names):
            setting = SETTINGS[name]
            meaning = setting.meaning.replace("`", "")
            # An empty default is not shown.
            if (default := setting.shown(setting.default)) not in EMPTY:
                meaning += f" [default: {text_of(default)}]"
            if setting.kind.shape is None:
                # None unless it is given: then the environment or the file decides.
                flags = f"{setting.flag}/--no{setting.flag[1:]}"
                command = click.option(flags, default=None, help=meaning)(command)
                continue
            command = click.option(
                setting.flag,
                setting.name,
                multiple=setting.own_flag is not None,
                metavar="USER" if setting.own_flag else setting.kind.shape,
                help=meaning,
            )(command)
        return command

    return add


config_option = click.option(
    CONFIG_FLAG, metavar="FILE", help=f"TOML file with settings; {CONFIG_VARIABLE}."
)


def of_database(command: Command) -> Command:
    """Add the options that locate the chat's database."""
    return config_option(setting_options("mongo_url", "database", "collection_prefix")(command))


def reading(command: Command) -> Command:
    """Add the options of every operator's command: the database, and the output format."""
    # Parsed first (`is_eager`), so that other options know the format of their errors.
    as_json = click.option(
        "--json", "as_json", is_flag=True, is_eager=True, help="Print one JSON document."
    )
    return of_database(as_json(command))


def listing(command: Command) -> Command:
    """Add the options of a command that lists rows: the options of `reading`, and JSON lines."""
    lines = "Print one JSON document for each row, one per line."
    return click.option("--json-lines", "as_lines", is_flag=True, help=lines, callback=_not_both)(
        reading(command)
    )


def _not_both(context: click.Context, _: click.Parameter, as_lines: bool) -> bool:
    """Raises UsageError for two formats at once. `--json` is parsed first (`is_eager`)."""
    if as_lines and context.params.get("as_json"):
        raise click.UsageError("--json or --json-lines, not both")
    return as_lines


def acting(command: Command) -> Command:
    """Add the options of a command with an acting moderator: the options of `reading`, and --as."""
    return click.option(
        "--as",
        "moderator_id",
        type=an_id,
        required=True,
        metavar="MODERATOR_ID",
        help="Acting moderator; kept in the audit log.",
    )(reading(command))


def writing(command: Command) -> Command:
    """Add the options of a command whose changes can be undone: the options of `acting`, and the
    dry run. Other commands that write are `consenting` (admin/consent.py)."""
    return click.option(
        "--dry-run", is_flag=True, help="Show what would be done, and write nothing."
    )(acting(command))


allowing_unknown = click.option(
    "--allow-unknown", is_flag=True, help="Accept an id that no row of the database names."
)
