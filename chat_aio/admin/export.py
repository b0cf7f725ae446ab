"""`chat-aio users export`: all data about a user, as JSON lines."""

from pathlib import Path
from typing import Any

import click

from chat_aio.actions.maintenance.export import export_user
from chat_aio.admin.files import opened
from chat_aio.admin.options import allowing_unknown, an_id, reading
from chat_aio.admin.printing import Outcome, progress_bar, show, table_of
from chat_aio.admin.session import Session, in_session, require_known_user
from chat_aio.schema.wire import json_from


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("user_id", metavar="USER", type=an_id)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write to this new file instead of stdout.",
)
@allowing_unknown
@reading
def export(
    user_id: str, output: Path | None, allow_unknown: bool, as_json: bool, **place: Any
) -> None:
    """Write all data about a user, one JSON object with its `kind` on each line. Exit code 4 if no
    row names the user.

    At the end it prints the number of objects of each kind: on stderr, or on stdout with --output.
    All messages are read, which takes long if there are many.
    """

    async def work(session: Session) -> Outcome:
        # An empty file would look like the answer to a mistyped id.
        await require_known_user(session, user_id, allow_unknown=allow_unknown)
        with opened(output) as file:
            counts = await export_user(
                session.database,
                user_id,
                lambda line: file.write(json_from(line) + b"\n"),
                progress=progress_bar,
            )
        rows = [(count, kind) for kind, count in sorted(counts.items())]
        document = {"userId": user_id, "output": output and str(output), "counts": counts}
        return Outcome(document, table_of(("LINES", "KIND"), rows))

    try:
        outcome = in_session(work, **place)
    except OSError as error:
        # A broken pipe of stdout is not about a file.
        if output is None:
            raise
        raise click.ClickException(f"--output: {output}: {error.strerror}") from error
    show(outcome, as_json=as_json, err=output is None)
