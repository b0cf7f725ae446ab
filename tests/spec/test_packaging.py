"""The wheel holds all that is needed: indexes, the pages' files, the mark of typing."""

import asyncio
import json
import os
import re
import sys
from datetime import date
from pathlib import Path

from chat_aio.admin.doctor.versions import judge_version
from chat_aio.server.settings import SETTINGS
from chat_aio.store import indexes
from tests.conftest import Database
from tests.support.processes import Service

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
    assert (installed / "chat_aio" / "demo" / "integration.md").is_file()
    assert len([*(installed / "chat_aio" / "admin" / "new_app").rglob("*.template")]) == 21
    browser = installed / "chat_aio" / "browser"
    assert names_in(browser) == names_in(ROOT / "chat_aio" / "browser")
    program = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        "from chat_aio.store import indexes\n"
        "print(indexes.folder(), *(index.name for index in indexes.load()))"
    )
    folder, *names = (await output_of("-c", program, cwd=tmp_path)).split()
    assert folder == str(installed / "chat_aio" / "indexes")
    assert names == [index.name for index in indexes.load()]


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}


async def test_the_image_asks_whether_the_service_is_healthy(
    mongo_url: str, database: Database
) -> None:
    """By the command of its health check, as a number that is not root, of one version."""
    image = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^FROM python:\d+\.\d+\.\d+-", image, re.M)
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", image, re.M)
    (line,) = re.findall(r"HEALTHCHECK .*\\\n +CMD (.*)", image)
    _, *command = json.loads(line)

    async def code(port: int) -> int:
        environment = {**os.environ, "CHAT_AIO_PORT": str(port)}
        asking = await asyncio.create_subprocess_exec(
            sys.executable, *command, env=environment, stderr=asyncio.subprocess.DEVNULL
        )
        return await asyncio.wait_for(asking.wait(), 60)

    service = Service(mongo_url, database.name, "--auth-header", "X-User")
    async with service.running():
        assert await code(service.port) == 0
    assert await code(service.port) == 1


def test_what_the_image_and_compose_set_are_settings() -> None:
    known = {setting.variable for setting in SETTINGS.values()}
    compose = (ROOT / "docker-compose.yml").read_text().partition("\n  chat:\n")[2]
    of_compose = re.findall(r"^      (CHAT_AIO_\w+): ", compose, re.M)
    of_image = re.findall(r"\b(CHAT_AIO_\w+)=", (ROOT / "Dockerfile").read_text())
    assert of_compose
    assert of_image
    assert {*of_compose, *of_image} <= known


def test_the_checkout_has_its_indexes_beside_the_package() -> None:
    assert Path(str(indexes.folder())) == ROOT / "indexes"


def test_compose_files_name_the_mongodb_of_the_tests() -> None:
    """A patched version, the one that scripts/patched-mongod unpacks."""
    (version,) = re.findall(r"mongod-([\d.]+)", (ROOT / "scripts" / "patched-mongod").read_text())
    template = ROOT / "chat_aio" / "admin" / "new_app" / "docker-compose.yml.template"
    for compose in (ROOT / "docker-compose.yml", template):
        assert f"image: mongo:${{MONGO_VERSION:-{version}}}\n" in compose.read_text()
    assert judge_version(version, {}, date(2025, 7, 1)).state == "ok"
