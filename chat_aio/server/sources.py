"""Where settings come from: flags, then CHAT_AIO_* variables, then a TOML file, then defaults."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from chat_aio.server.settings import PREFIX, SETTINGS, ServeSettings, Setting, made_of

CONFIG_FLAG, CONFIG_VARIABLE = "--config", f"{PREFIX}CONFIG"
DEFAULT = "default"


class WrongSetting(click.ClickException):
    """A setting that cannot be, in one line."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Found:
    """The value of a setting, and where it comes from: `--port`, `CHAT_AIO_PORT`, `chat.toml: port`
    or `default`."""

    value: Any
    place: str


def settings_from(*, config: str | None = None, **flags: Any) -> ServeSettings:
    """The settings by all sources. Flags that were not given are None. Raises WrongSetting."""
    return made_of_found(find_settings(config=config, **flags))


def made_of_found(found: Mapping[str, Found]) -> ServeSettings:
    return made_of({name: value.value for name, value in found.items()})


def find_settings(*, config: str | None = None, **flags: Any) -> dict[str, Found]:
    """Every setting with its source, as `settings_from`."""
    given = _of_file(config)
    # An empty variable counts as none, so that `NAME=` and `${NAME:-}` leave a setting alone.
    given |= {
        name: Found(os.environ[setting.variable], setting.variable)
        for name, setting in SETTINGS.items()
        if os.environ.get(setting.variable)
    }
    # click gives an empty tuple where a flag that may be repeated was not given.
    given |= {
        name: Found(value, SETTINGS[name].flag)
        for name, value in flags.items()
        if value is not None and value != ()
    }
    found = {}
    for name, setting in SETTINGS.items():
        if (source := given.get(name)) is None:
            found[name] = Found(setting.default, DEFAULT)
            continue
        try:
            found[name] = Found(setting.read(source.value), source.place)
        except ValueError as error:
            raise WrongSetting(f"{source.place}: {error}") from None
    return found


def unknown_variables() -> list[str]:
    """One line for each CHAT_AIO_* variable that is no setting. The environment is not ours alone
    (Kubernetes adds variables named after services), so this is a warning and no error."""
    known = {CONFIG_VARIABLE, *(setting.variable for setting in SETTINGS.values())}
    unknown = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    said = []
    for name in unknown:
        meant = _meant(name.removeprefix(PREFIX).lower())
        said.append(f"{name} is no setting" + (f"; is {meant.variable} meant?" if meant else ""))
    return said


def _of_file(config: str | None) -> dict[str, Found]:
    place = CONFIG_FLAG if config is not None else CONFIG_VARIABLE
    name = config if config is not None else os.environ.get(CONFIG_VARIABLE)
    if not name:
        return {}
    try:
        table = tomllib.loads(Path(name).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise WrongSetting(f"{place}: {name} cannot be read: {error}") from None
    # An error here and a warning for variables: the file is ours alone.
    if unknown := next((key for key in table if key not in SETTINGS), None):
        meant = _meant(unknown)
        hint = f"; is {meant.name} meant?" if meant else ""
        raise WrongSetting(f"{name}: {unknown} is no setting{hint}")
    return {key: Found(value, f"{name}: {key}") for key, value in table.items()}


def _meant(name: str) -> Setting | None:
    """The setting whose name is most like this one."""
    found = get_close_matches(name, SETTINGS, n=1, cutoff=0.7)
    return SETTINGS[found[0]] if found else None
