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
    """A time as the chat takes it over HTTP."""
    try:
        return _MOMENT.validate_python(text)
    except ValidationError:
        example = "ISO 8601 with an offset, such as 2026-01-31T09:30:00Z"
        raise click.BadParameter(f"{text!r} is no time: {example}") from None


def an_id(text: str) -> str:
    """What can be an id."""
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
    """What every command takes that needs the chat's database: where it is."""
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
    """What every operator's command takes: where the database is, and how to print."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    return of_database(as_json(command))


def writing(command: Command) -> Command:
    """What every command that writes takes besides: who acts, and whether it is a dry run."""
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
