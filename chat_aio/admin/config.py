"""`chat-aio config`: every setting, with its value and the source of the value."""

from typing import Any

import click

from chat_aio.admin.options import config_option, setting_options
from chat_aio.admin.printing import Outcome, show, table_of
from chat_aio.server.settings import SETTINGS, text_of
from chat_aio.server.sources import find_settings, unknown_variables


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@config_option
@setting_options(*SETTINGS)
def config(*, as_json: bool, **given: Any) -> None:
    """Show the settings that `serve` would have here, with the same flags, and the source of every
    value. Passwords are hidden."""
    found = {
        name: (SETTINGS[name].shown(setting.value), setting.place)
        for name, setting in find_settings(**given).items()
    }
    # Shown here, for a misspelt variable changes nothing and looks as if it did.
    unknown = unknown_variables()
    document = {
        "settings": {
            name: {"value": value, "from": place} for name, (value, place) in found.items()
        },
        "unknown": unknown,
    }
    rows = [(name, text_of(value), place) for name, (value, place) in found.items()]
    remark = "\n".join(unknown) or None
    text = table_of(("setting", "value", "from"), rows, shortened=False)
    show(Outcome(document, text, remark), as_json=as_json)
