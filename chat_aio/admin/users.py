"""`chat-aio users`: the data of one user, exported or erased."""

import click

from chat_aio.admin.erasure import erase
from chat_aio.admin.export import export


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def users() -> None:
    """Export or erase the data of a user."""


users.add_command(erase)
users.add_command(export)
