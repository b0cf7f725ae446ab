"""The options that the commands share, and the values that they take."""

from collections.abc import Callable
from datetime import datetime
from typing import get_args

import click
from pydantic import TypeAdapter, ValidationError

from chat_aio.schema.fields import Moment, is_id
from chat_aio.schema.models import ReportStatus, TargetType

Command = Callable[..., None]

STATUSES = click.Choice(get_args(ReportStatus))
DECISIONS = click.Choice(["triaged", "resolved", "dismissed"])
TARGET_TYPES = click.Choice(get_args(TargetType))

_MOMENT = TypeAdapter[datetime](Moment)


def moment(text: str) -> datetime:
    """A time, in the form that the HTTP API takes. Raises BadParameter."""
    try:
        return _MOMENT.validate_python(text)
    except ValidationError:
        example = "ISO 8601 with an offset, such as 2026-01-31T09:30:00Z"
        raise click.BadParameter(f"{text!r} is no time: {example}") from None


def an_id(text: str) -> str:
    """A text that could be an id. Raises BadParameter for any other."""
    if not is_id(text):
        raise click.BadParameter("an id is 1 to 256 characters, not blank, without NUL")
    return text


limit = click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="At most so many, the newest.",
)


def of_database(command: Command) -> Command:
    """Add the options that say where the chat's database is."""
    # In reverse: click lists the option first that is applied last.
    for option in (
        click.option(
            "--collection-prefix",
            help="Put before every collection's name; CHAT_AIO_COLLECTION_PREFIX.",
        ),
        click.option("--database", help="Name of the database; CHAT_AIO_DATABASE."),
        click.option("--mongo-url", help="Replica set of the chat; CHAT_AIO_MONGO_URL."),
    ):
        command = option(command)
    return command


def reading(command: Command) -> Command:
    """Add the options of every operator's command: where the database is, and how to print."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    return of_database(as_json(command))


def writing(command: Command) -> Command:
    """Add the options of a command that writes: those of `reading`, who acts, and the dry run."""
    command = reading(command)
    command = click.option(
        "--dry-run", is_flag=True, help="Say what would be done, and write nothing."
    )(command)
    return click.option(
        "--as",
        "moderator_id",
        type=an_id,
        required=True,
        metavar="MODERATOR_ID",
        help="Who acts; kept in the audit trail.",
    )(command)
