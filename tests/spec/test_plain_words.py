"""The count of hard phrases in prose only falls (`make check`)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a document of one phrase, which is written down."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "plain-words", tmp_path / "scripts")
    (tmp_path / "guide.md").write_text("It is read anew.\n\n```\nwhoever\n```\n")
    (tmp_path / "code.py").write_text('"""A module."""\nNAME = "told"  # A name.\n')
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert count(tmp_path, "--lower") == (0, "")
    return tmp_path


def count(project: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "scripts/plain-words", *options]
    run = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.returncode, run.stdout


def test_counts_may_only_fall(project: Path) -> None:
    assert json.loads((project / "scripts" / "plain-words.json").read_text()) == {"guide.md": 1}
    assert count(project) == (0, "")
    (project / "code.py").write_text(
        '"""Called by whoever has it."""\n\nX = 1\n"""What is left."""\n'
    )
    code, said = count(project)
    assert (code, said) == (1, "code.py: 2 phrases, 0 allowed (plain-words --list)\n")
    assert count(project, "--lower")[0] == 1
    assert "code.py:4: What is: What is left." in count(project, "--list")[1]
    (project / "code.py").write_text("X = 1\n")
    (project / "guide.md").write_text("It is read again.\n")
    code, said = count(project)
    assert (code, "--lower" in said) == (1, True)
    assert count(project, "--lower") == (0, "")
    assert count(project) == (0, "")
