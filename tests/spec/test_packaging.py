"""The wheel holds all that is needed: indexes, the demo's page, the mark of typing."""

import asyncio
import sys
from pathlib import Path

from chat_aio.store import indexes

ROOT = Path(__file__).parents[2]


async def output_of(*arguments: str, cwd: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, output.decode()
    return output.decode()


async def test_the_wheel_works_without_the_checkout(tmp_path: Path) -> None:
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path))
    await output_of("-m", "pip", "wheel", *options, str(ROOT), cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")  # noqa: ASYNC240
    installed = tmp_path / "installed"
    await output_of("-m", "zipfile", "-e", str(wheel), str(installed), cwd=tmp_path)
    assert (installed / "chat_aio" / "py.typed").is_file()
    assert (installed / "chat_aio" / "demo" / "static" / "index.html").is_file()
    program = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "from chat_aio.store import indexes\n"
        "print(indexes.folder(), *(each.name for each in indexes.load()))"
    )
    folder, *names = (await output_of("-c", program, cwd=tmp_path)).split()
    assert folder == str(installed / "chat_aio" / "indexes")
    assert names == [each.name for each in indexes.load()]


def test_the_checkout_has_its_indexes_beside_the_package() -> None:
    assert Path(str(indexes.folder())) == ROOT / "indexes"
