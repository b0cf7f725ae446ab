"""The log of `chat-aio serve`: lines for people, or JSON for machines (the extra `logs`)."""

import logging
from typing import Literal

from chat_aio.errors import SetupError

LogFormat = Literal["text", "json"]

LINE = "%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"


def log_to_stderr(log_format: LogFormat = "text") -> None:
    """Log from level INFO on; as JSON, with the fields of each record. Raises SetupError if JSON
    is asked for and the extra `logs` is not installed."""
    logging.basicConfig(level=logging.INFO, format=LINE)
    if log_format == "json":
        try:
            from pythonjsonlogger.json import JsonFormatter
        except ImportError:
            raise SetupError("for JSON logs install chat-aio[logs]") from None
        formatter = JsonFormatter(
            "{process}{levelname}{name}{message}",
            style="{",
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="time",
        )
        for handler in logging.getLogger().handlers:
            handler.setFormatter(formatter)
