"""The plugin of the guide: its files are linted, and its tests are run as a reader runs them."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT, without_own_variables

GUIDE = (ROOT / "docs" / "guides" / "plugins.md").read_text()
FILES = dict(re.findall(r'^```python title="(.*?)"\n(.*?)^```$', GUIDE, re.DOTALL | re.MULTILINE))
PATIENCE = 240


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert {*FILES} == {"polls.py", "test_polls.py", "conftest.py"}
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


async def test_its_own_tests_pass(folder: Path, mongo_url: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"),
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
        *("-p", "pytest_asyncio.plugin"),
        cwd=folder,
        env={
            **without_own_variables(),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "CHAT_AIO_TEST_MONGO_URL": mongo_url,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, output.decode()
    assert "1 passed" in output.decode()


def test_it_is_typed_and_linted(folder: Path) -> None:
    for program in (
        ("ruff", "check", "--isolated", "--select", "E,F,W,I,UP,B", "--line-length", "100", "."),
        ("mypy", "--config-file=", "--strict", "polls.py"),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", *program],
            cwd=folder,
            env={**os.environ, "MYPYPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
