"""`chat-aio mongod`: a MongoDB for development, where neither Docker nor a package is at hand."""

import asyncio
import signal
from pathlib import Path

import click

from chat_aio.embedded import Mongod
from chat_aio.errors import SetupError


@click.command()
@click.option("--port", default=27017, show_default=True, help="Port on 127.0.0.1.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".data"),
    show_default=True,
    help="Folder of the data.",
)
def mongod(port: int, data: Path) -> None:
    """Run the embedded MongoDB for development, as a replica set of one node."""
    try:
        asyncio.run(_run(data, port))
    except SetupError as error:
        raise click.ClickException(str(error)) from error


async def _run(data: Path, port: int) -> None:
    interrupted = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, interrupted.set)
    async with Mongod(data, port=port) as running:
        click.echo(f"MongoDB is ready at mongodb://127.0.0.1:{port} (Ctrl+C ends it)")
        waiting = [asyncio.create_task(interrupted.wait()), asyncio.create_task(running.wait())]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if not interrupted.is_set():
            raise SetupError(f"mongod has ended; {data / 'mongod.log'} has the reason")
