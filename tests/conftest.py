"""One real mongod for the whole test run, a database for each test."""

import asyncio
import fcntl
import gc
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from hypothesis import settings
from pymongo import AsyncMongoClient

from chat_aio import Chat, Hooks, Options, SetupError
from chat_aio.embedded import Mongod
from chat_aio.plugins import Plugin
from chat_aio.plugins.attachments import thumbnails
from chat_aio.plugins.deliveries import lanes, worker
from chat_aio.store import following
from tests.support.closing import end_reads_at_once
from tests.support.connecting import close_what_is_cancelled
from tests.support.people import Person, picked_by_header
from tests.support.pool import Database as Database
from tests.support.pool import Pool

URL = "CHAT_AIO_TEST_MONGO_URL"
OURS = "CHAT_AIO_TEST_MONGO_IS_OURS"
TEMPORARY = "PYTEST_DEBUG_TEMPROOT"
"""Where pytest makes the folders of tests."""

OPTIONS = (
    *(
        "--setParameter",
        "enableTestCommands=1",
        "--setParameter",
        "diagnosticDataCollectionEnabled=0",
        # Rows of tests are as old as a test needs them: none is removed for its age meanwhile.
        "--setParameter",
        "ttlMonitorEnabled=false",
    ),
    *("--wiredTigerCacheSizeGB", "1", "--oplogSize", "512"),
    # Hundreds of databases, each used for a second: their files must not be held open for minutes.
    # Those of the pool come up again after some seconds, and opening 140 files takes long.
    *("--setParameter", "minSnapshotHistoryWindowInSeconds=0", "--syncdelay", "15"),
    "--wiredTigerEngineConfigString",
    "file_manager=(close_idle_time=20,close_scan_interval=5,close_handle_minimum=100)",
)
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 << 30
MOST_WORKERS = 8
PREFIX = "chat-aio-tests-"
PATIENT = {
    "replay_buffer_seconds": 5,
    "quotas": None,
    # On a busy machine, what takes long has not failed.
    "storage_timeout_seconds": 60,
    "hook_timeout_seconds": 60,
}
STACK = pytest.StashKey[tuple[asyncio.Runner, Mongod, "tempfile.TemporaryDirectory[str]"]]()


# An example that takes long on a busy machine has not failed.
settings.register_profile("busy", deadline=None)
settings.load_profile("busy")


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: three workers for two cores, because a third of a test's time is waiting."""
    return min(len(os.sched_getaffinity(0)) * 3 // 2, MOST_WORKERS) or 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: one that begins last would have the other workers wait."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/scenarios/"))


def pytest_configure(config: pytest.Config) -> None:
    """The run's own mongod, unless CHAT_AIO_TEST_MONGO_URL names one; workers share it."""
    if config.option.collectonly or hasattr(config, "workerinput"):
        return
    if _place() is not None:
        # On a disk, a mongod that a test starts waits at each majority write.
        os.environ.setdefault(TEMPORARY, str(MEMORY))
        _remove_folders_of_killed_runs()
    if URL in os.environ:
        return
    for left in MEMORY.glob(f"{PREFIX}*"):
        if _is_abandoned(left / "mongod.lock"):
            shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=_place())
    mongod = Mongod(folder.name, options=OPTIONS)
    runner = asyncio.Runner()
    try:
        runner.run(mongod.__aenter__())
    except SetupError as error:
        raise pytest.UsageError(str(error)) from error
    os.environ[URL], os.environ[OURS] = f"{mongod.url}&serverMonitoringMode=poll", "yes"
    config.stash[STACK] = runner, mongod, folder


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Loaded modules stay to the end: no search for garbage goes through them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _place() -> Path | None:
    """Memory, where there is enough for all that a run writes; else where temporary files go."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH_BYTES
    return MEMORY if roomy else None


def _remove_folders_of_killed_runs() -> None:
    """pytest keeps them for three days, and they take memory."""
    for lock in MEMORY.glob("pytest-of-*/pytest-*/.lock"):
        with suppress(OSError, ValueError):
            if not Path("/proc", str(int(lock.read_text()))).exists():
                shutil.rmtree(lock.parent, ignore_errors=True)


def _is_abandoned(lock: Path) -> bool:
    """Whether a run that was killed has left this, which takes memory: a mongod holds its lock."""
    try:
        with lock.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def pytest_unconfigure(config: pytest.Config) -> None:
    if STACK not in config.stash:
        return
    runner, mongod, folder = config.stash[STACK]
    runner.run(mongod.__aexit__(None, None, None))
    runner.close()
    folder.cleanup()
    del os.environ[URL], os.environ[OURS]


@pytest.fixture(scope="session", autouse=True)
def mended_driver() -> Iterator[None]:
    """No socket is left open, and no closing of a change stream waits."""
    with pytest.MonkeyPatch.context() as patch:
        close_what_is_cancelled(patch)
        end_reads_at_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def patience_with_images() -> Iterator[None]:
    """On a busy machine, the process that makes thumbnails has not failed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thumbnails, "SECONDS", 60.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def short_pauses() -> Iterator[None]:
    """Deliveries look often for what they wait for, and for leases that are free. How long they are
    patient stays as it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "AWAIT_MS", 20)
        patch.setattr(following, "GATHER_SECONDS", 0.02)
        patch.setattr(worker, "RENEWALS", 30)
        patch.setattr(worker, "LOOK_SECONDS", 0.1)
        patch.setattr(worker, "PAUSE_SECONDS", 0.05)
        patch.setattr(lanes, "PAUSE_SECONDS", 0.05)
        yield


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    with pytest.MonkeyPatch.context() as patch:
        made = Pool()
        made.hide_earlier_tests(patch)
        made.know_what_stands(patch)
        yield made
    if OURS not in os.environ:  # Ours is thrown away as a whole, which is a lot faster.
        made.drop_all(os.environ[URL])


@pytest.fixture(scope="session")
def mongo_url() -> str:
    """The address for other processes."""
    return os.environ[URL]


@pytest.fixture(scope="session")
def client_url() -> str:
    """The address for further clients of this process."""
    return os.environ[URL]


@pytest.fixture
async def database(request: pytest.FixtureRequest, pool: Pool) -> AsyncIterator[Database]:
    """Empty, with all indexes. With the mark `new_database` it is one without collections, and so
    it is where other processes get its address: the change stream of another process would show
    what earlier tests have done."""
    marked = request.node.get_closest_marker("new_database")
    async with AsyncMongoClient[dict[str, Any]](os.environ[URL]) as client:
        if marked or "mongo_url" in request.fixturenames:
            yield pool.new(client)
            return
        taken = await pool.take(client)
        yield taken
        pool.give_back(taken)


MakeChat = Callable[..., Awaitable[Chat]]


@pytest.fixture
async def make_chat(database: Database) -> AsyncIterator[MakeChat]:
    """Open chats over the test's database; several are several processes to the database."""
    opened: list[Chat] = []

    async def make(hooks: Hooks | None = None, **options: Any) -> Chat:
        chat = Chat(database, hooks=hooks, options=Options(**{**PATIENT, **options}))
        await chat.open()
        opened.append(chat)
        return chat

    yield make
    for chat in opened:
        await chat.close()


@pytest.fixture
async def chat(make_chat: MakeChat) -> Chat:
    return await make_chat()


MakePeople = Callable[..., Awaitable[Callable[[str], Person]]]


@pytest.fixture
async def serve(database: Database, aiohttp_client: Any) -> MakePeople:
    """Serve a chat over HTTP, mounted into a host's app; returns people by user id."""

    async def make(
        hooks: Hooks | None = None,
        auth: Any = picked_by_header,
        plugins: Iterable[Plugin] = (),
        **options: Any,
    ) -> Callable[[str], Person]:
        app = web.Application()
        chat = Chat(
            database,
            auth=auth,
            hooks=hooks,
            plugins=plugins,
            options=Options(**{**PATIENT, **options}),
        )
        chat.mount(app)
        client: TestClient[web.Request, web.Application] = await aiohttp_client(app)
        return lambda user_id: Person(user_id, client, chat)

    return make


@pytest.fixture
async def person(serve: MakePeople) -> Callable[[str], Person]:
    return await serve()
