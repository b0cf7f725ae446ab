"""The output files of commands."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click


@contextmanager
def opened(output: Path | None) -> Iterator[IO[bytes]]:
    """The file for the lines, or stdout. A file appears only when it is complete, and only its
    owner may read it."""
    if output is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Never replaced: it may be the only copy of an earlier export.
    if output.exists():
        raise click.ClickException(f"--output: {output} already exists")
    if not output.parent.is_dir():
        raise click.ClickException(f"--output: {output.parent} is not an existing folder")
    # In the same folder, because a rename is atomic only within one file system.
    with tempfile.NamedTemporaryFile(
        dir=output.parent, prefix=f".{output.name}.", delete=False
    ) as file:
        try:
            yield file
            file.flush()
            # Before the rename, or a crash could leave a complete name with an incomplete file.
            os.fsync(file.fileno())
            os.rename(file.name, output)
        except BaseException:
            os.unlink(file.name)
            raise
