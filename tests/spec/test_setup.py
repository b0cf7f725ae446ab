"""`scripts/setup` as `make` calls it: it says what it does, and why it could not."""

import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest

from tests.admin.test_processes import process

ROOT = Path(__file__).parents[2]
SETUP = str(ROOT / "scripts" / "setup")


def lock_of_one_package(folder: Path) -> Path:
    """A lock of a package that pip finds without a network."""
    wheel = folder / "nothing-1.0-py3-none-any.whl"
    about = "nothing-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n")
        kind = "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        packed.writestr(f"{about}/WHEEL", kind)
        packed.writestr(f"{about}/RECORD", "")
    checked = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = folder / "lock.txt"
    lock.write_text(f"nothing @ {wheel.as_uri()} \\\n    --hash=sha256:{checked}\n")
    return lock


async def test_it_says_what_it_does_and_why_it_failed(tmp_path: Path) -> None:
    lock, venv = lock_of_one_package(tmp_path), tmp_path / "venv"
    made = await process(SETUP, sys.executable, str(venv), str(lock))
    assert made.code == 0, made
    making, installing = made.output.splitlines()
    assert making.startswith(f"Making the environment {venv} with Python 3.")
    assert installing.startswith(f"Installing the 1 packages of {lock}")

    lock.write_text(lock.read_text().replace("sha256:", "sha256:0"))
    again = await process(SETUP, sys.executable, str(venv), str(lock))
    assert again.code == 1, again
    assert "Making" not in again.output
    assert again.errors.splitlines()[0].startswith("ERROR: ")
    assert f"All that it said is in {venv}/setup.log" in again.errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("script", "said"),
    [("exit 1", "is too old, 3.11 is needed"), (None, "there is no ")],
    ids=["old", "missing"],
)
async def test_a_wrong_python_is_named(tmp_path: Path, script: str | None, said: str) -> None:
    python = tmp_path / "python"
    if script is not None:
        python.write_text(f"#!/bin/sh\n[ $1 = --version ] && echo Python 3.9.2\n{script}\n")
        os.chmod(python, 0o755)
    ran = await process(SETUP, str(python), str(tmp_path / "venv"), "no lock")
    assert (ran.code, ran.output) == (1, "")
    assert ran.errors.startswith("Error: ")
    assert said in ran.errors
    assert "make PYTHON=" in ran.errors
