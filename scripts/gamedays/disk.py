"""A small disk for MongoDB's data: a tmpfs, which only root can mount."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class CannotPlay(Exception):
    """A breakage needs something that this machine does not have."""


@contextmanager
def small_disk(place: Path, mib: int) -> Iterator[None]:
    """Mount a disk of `mib` MiB at a folder. Raises CannotPlay."""
    place.mkdir()
    try:
        command = ("mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=700", "tmpfs", str(place))
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise CannotPlay("there is no mount") from None
    if mounted.returncode:
        raise CannotPlay(f"a small disk needs root: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        # Lazily: a mongod that has just been killed may still be ending.
        subprocess.run(("umount", "--lazy", str(place)), check=True)


def fill(place: Path) -> Path:
    """Fill the rest of the disk of a folder; returns the file that fills it."""
    file, block = place / "other-data", bytes(64 * 1024)
    with file.open("wb", buffering=0) as taken:
        try:
            while taken.write(block):
                pass
        except OSError:
            return file
    return file
