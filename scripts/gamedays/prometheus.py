"""The game's own Prometheus, which measures the deployment and evaluates the chat's rules."""

import asyncio
import ctypes
import re
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientError, ClientSession

from chat_aio.embedded import _free_port

RULES = Path(__file__).parents[2] / "dashboards" / "chat_aio.rules.yml"
SCALE = 60
"""A minute of the rules is a second of the game: their durations are divided, nothing else."""

START_SECONDS = 30
STOP_SECONDS = 5
LOOK_SECONDS = 0.2
SAMPLES = 3
JOB = "chat"

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: {job}
    static_configs: [{{targets: [{targets}]}}]
"""

_DURATION = re.compile(r"(?<=\[)(\d+)([smh])(?=\])|(?<=for: )(\d+)([smh])\b")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}
_PR_SET_PDEATHSIG = 1


def find_prometheus() -> Path | None:
    found = shutil.which("prometheus")
    return Path(found) if found else None


def quickened(rules: str) -> str:
    """The rules with every window and every `for` divided by SCALE. Rates stay rates per second."""

    def shorter(found: re.Match[str]) -> str:
        number, unit = found[1] or found[3], found[2] or found[4]
        return f"{int(number) * _SECONDS[unit] * 1_000 // SCALE}ms"

    return _DURATION.sub(shorter, rules)


class Prometheus:
    """An async context manager that runs Prometheus over `folder`, which scrapes these ports."""

    def __init__(self, program: Path, folder: Path, ports: Sequence[int]) -> None:
        self._program = program
        self._folder = folder
        self._ports = ports
        self._process: asyncio.subprocess.Process | None = None
        self._http: ClientSession | None = None
        self._port = _free_port()

    async def __aenter__(self) -> Self:
        self._folder.mkdir()
        targets = ", ".join(f'"127.0.0.1:{port}"' for port in self._ports)
        (self._folder / "prometheus.yml").write_text(CONFIG.format(job=JOB, targets=targets))
        (self._folder / "rules.yml").write_text(quickened(RULES.read_text()))
        self._http = ClientSession()
        with (self._folder / "log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                self._program,
                f"--config.file={self._folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={self._folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self._port}",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        try:
            await self._ready()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stop()

    async def firing(self) -> set[str]:
        """The names of the firing alerts."""
        found = (await self._ask("alerts"))["alerts"]
        return {sample["labels"]["alertname"] for sample in found if sample["state"] == "firing"}

    async def has_measured(self) -> bool:
        """Whether every process was measured often enough for a rate. Measuring starts some seconds
        after the process."""
        often = f"count(sum_over_time(up[1m]) >= {SAMPLES})"
        found = (await self._ask("query", query=often))["result"]
        return bool(found) and int(found[0]["value"][1]) == len(self._ports)

    async def _ask(self, what: str, **query: str) -> Any:
        assert self._http is not None
        url = f"http://127.0.0.1:{self._port}/api/v1/{what}"
        async with self._http.get(url, params=query) as response:
            return (await response.json())["data"]

    async def _ready(self) -> None:
        assert self._http is not None
        assert self._process is not None
        async with asyncio.timeout(START_SECONDS):
            while self._process.returncode is None:
                with suppress(ClientError):
                    async with self._http.get(f"http://127.0.0.1:{self._port}/-/ready") as answer:
                        if answer.ok:
                            return
                await asyncio.sleep(LOOK_SECONDS)
        raise RuntimeError((self._folder / "log").read_text()[-2_000:])

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._http is not None:
            await self._http.close()


def _end_with_parent() -> None:
    """Let Linux kill it when the game has ended for whatever reason."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
