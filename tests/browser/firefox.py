"""Firefox by WebDriver BiDi, its own protocol: Playwright drives only a Firefox of its own."""

import asyncio
import itertools
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

NAMES = ("firefox-esr", "firefox")
NO_FIREFOX = "no firefox on PATH: apt-get install firefox-esr"
LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")
ARGUMENTS = ("--headless", "--no-remote", "--remote-debugging-port", "0")
WAIT_SECONDS = 20
"""A condition is looked at with each frame of the page; so long it may take to come true."""
ANSWER_SECONDS = 60
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Control": "\ue009"}


def found_firefox() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def running(profile: Path, environment: dict[str, str]) -> AsyncIterator["Firefox"]:
    program = found_firefox()
    assert program is not None, NO_FIREFOX
    # Where it is asked to be quiet it does not say where it listens.
    process = await asyncio.create_subprocess_exec(
        *(program, *ARGUMENTS, "--profile", str(profile), "about:blank"),
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    assert process.stderr is not None
    try:
        place = await _listening(process.stderr)
        reading = asyncio.create_task(process.stderr.read())
        async with ClientSession() as http, http.ws_connect(place, max_msg_size=0) as socket:
            firefox = Firefox(socket)
            await firefox.begin()
            yield firefox
            firefox.end()
        reading.cancel()
    finally:
        process.kill()
        await process.wait()


async def _listening(told: asyncio.StreamReader) -> str:
    async for line in told:
        if found := LISTENING.search(line):
            return f"{found[1].decode()}/session"
    raise RuntimeError("firefox ended before it listened")


class Firefox:
    """One browser; `complaints` are the errors on the consoles of its pages."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count()
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._hearing = asyncio.create_task(self._hear())
        self.complaints: list[str] = []

    async def begin(self) -> None:
        await self.call("session.new", capabilities={})
        await self.call("session.subscribe", events=["log.entryAdded"])

    def end(self) -> None:
        self._hearing.cancel()

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(answer, ANSWER_SECONDS)

    async def visit(self, url: str, *, by: str | None = None) -> "Window":
        """A window of somebody's own; only those `by` the same user share what is kept."""
        user = by or await self.user()
        made = await self.call("browsingContext.create", type="window", userContext=user)
        window = Window(self, made["context"])
        await window.go(url)
        return window

    async def user(self) -> str:
        user: str = (await self.call("browser.createUserContext"))["userContext"]
        return user

    async def _hear(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if told["type"] == "event" and told["params"]["level"] == "error":
                self.complaints.append(told["params"]["text"])
            elif told["type"] == "success":
                self._asked.pop(told["id"]).set_result(told["result"])
            elif told["type"] == "error":
                self._asked.pop(told["id"]).set_exception(RuntimeError(told["message"]))


class Window:
    def __init__(self, firefox: Firefox, context: str) -> None:
        self._firefox = firefox
        self._context = context

    async def run(self, script: str) -> Any:
        """The value of an expression of strings, numbers and truth, or what it resolves to."""
        answer = await self._firefox.call(
            "script.evaluate",
            expression=script,
            target={"context": self._context},
            awaitPromise=True,
            userActivation=True,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait for an expression to be true."""
        ended = await self.run(
            f"""new Promise((resolve) => {{
                const end = Date.now() + {WAIT_SECONDS * 1_000};
                const look = () => {{
                    if ({condition}) resolve(true);
                    else if (Date.now() > end) resolve(false);
                    else requestAnimationFrame(look);
                }};
                look();
            }})"""
        )
        assert ended, condition

    async def go(self, url: str) -> None:
        await self._firefox.call(
            "browsingContext.navigate", context=self._context, url=url, wait="complete"
        )

    async def back(self) -> None:
        await self._firefox.call("browsingContext.traverseHistory", context=self._context, delta=-1)

    async def close(self) -> None:
        await self._firefox.call("browsingContext.close", context=self._context)

    async def press(self, *keys: str) -> None:
        """Press keys, the ones before the last held down: `press("Control", "k")`."""
        values = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": value} for value in values]
        up = [{"type": "keyUp", "value": value} for value in reversed(values)]
        await self._keys([*down, *up])

    async def type(self, text: str) -> None:
        """Type where the focus is."""
        actions = [
            {"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")
        ]
        await self._keys(actions)

    async def _keys(self, actions: list[dict[str, str]]) -> None:
        source = {"type": "key", "id": "keyboard", "actions": actions}
        await self._firefox.call("input.performActions", context=self._context, actions=[source])
