"""`scripts/bench --peers`: what it says where nothing is installed, its arithmetic, its frames."""

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from benchmarks import against as side_by_side
from benchmarks import cli
from benchmarks.deliveries import Deliveries
from benchmarks.load import Connection
from benchmarks.peers import ejabberd, nchan, socket_io
from benchmarks.peers.sides import AHEAD, compared
from benchmarks.peers.socket_io import Socket, frame
from benchmarks.peers.streaming import FEW, MANY, Heard, against
from benchmarks.processes import LoadFailed, cpu_seconds
from benchmarks.readers import REST
from benchmarks.stage import Meter
from benchmarks.table import ROWS, Figure, Line, MissingPeer
from click.testing import CliRunner

Programs = Callable[..., None]
UPGRADED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Puts shell scripts where programs are looked for, and nothing else; nchan and ejabberd
    are nowhere."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(nchan, "MODULE", tmp_path / "no-module.so")
    monkeypatch.setattr(ejabberd, "LIBRARIES", tmp_path / "libraries")
    monkeypatch.setattr(socket_io, "CACHE", tmp_path / "cache")

    def put(**texts: str) -> None:
        for name, text in texts.items():
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)

    return put


def test_it_says_what_is_missing_and_how_to_install_it(programs: Programs) -> None:
    got = CliRunner().invoke(cli.main, ["--peers"])
    assert got.exit_code == 1
    assert "Socket.IO is not measured: no Node.js from 20.19 on with npm" in got.output
    assert "apt install nodejs npm" in got.output
    assert "nchan is not measured: no nginx with nchan" in got.output
    assert "nginx-light libnginx-mod-nchan" in got.output
    assert "ejabberd is not measured: no ejabberd" in got.output
    assert "ejabberd erlang-p1-sqlite3" in got.output
    assert "there is nothing to measure" in got.output


def test_a_peer_that_is_missing_takes_only_its_rows(
    programs: Programs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nchan, "MODULE", tmp_path / "bin")
    programs(nginx="echo nginx version: nginx/1.2.3 >&2")
    left = cli.prepared(cli.chosen((), peers=True))
    assert [row.name for row in left] == ["N1", "N2"]


def test_peers_are_measured_only_when_they_are_asked_for() -> None:
    plain, peers = cli.chosen((), peers=False), cli.chosen((), peers=True)
    assert not [row.name for row in plain if row.peer]
    names = ["E1", "E2", "E3", "E4", "E5", "N1", "N2", "S1", "S1b", "S2", "S3", "S4", "S5", "S6"]
    assert [peer.name for peer in peers] == names
    assert [row.name for row in cli.chosen(("S3", "P1"), peers=False)] == ["P1", "S3"]
    assert len(plain) + len(peers) == len(ROWS)


def test_an_old_node_is_none(programs: Programs) -> None:
    programs(node="echo v18.20.4", npm="exit 0")
    with pytest.raises(MissingPeer, match=r"20\.19"):
        socket_io.prepare()


def test_libraries_are_installed_once(programs: Programs, tmp_path: Path) -> None:
    installed = "/bin/mkdir -p node_modules; echo {} > node_modules/.package-lock.json"
    programs(node="echo v22.1.0", npm=f'echo "$@" >> {tmp_path}/calls; {installed}')
    for _ in range(2):
        assert socket_io.prepare().startswith("mongodb ")
    assert (tmp_path / "calls").read_text() == "ci --ignore-scripts --no-audit --no-fund\n"
    (tmp_path / "cache" / "package.json").write_text("{}")
    socket_io.prepare()
    assert (tmp_path / "calls").read_text().count("\n") == 2


def test_an_install_that_fails_is_said(programs: Programs) -> None:
    programs(node="echo v22.1.0", npm="echo no network >&2; exit 1")
    with pytest.raises(MissingPeer, match="no network"):
        socket_io.prepare()


def test_libraries_are_pinned_by_hash() -> None:
    asked, locked = (
        json.loads((socket_io.FILES / package).read_text()) for package in socket_io.PACKAGES
    )
    packages = {name: package for name, package in locked["packages"].items() if name}
    assert locked["packages"][""]["dependencies"] == asked["dependencies"]
    for name, version in asked["dependencies"].items():
        assert packages[f"node_modules/{name}"]["version"] == version
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    assert "://" not in (socket_io.FILES / "package-lock.json").read_text()


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    """Peer by ours, round by round: not the ratio of the medians."""
    figures = compared([1e-3, 2e-3, 4e-3], [3e-3, 1e-3, 4e-3])
    assert figures["ours"] == Figure(2_000, "µs")
    assert figures["theirs"] == Figure(3_000, "µs")
    assert figures["÷ ours"] == Figure(1.0, "x")


@pytest.mark.parametrize(("theirs", "ahead"), [(1.1e-3, True), (1e-3, True), (0.9e-3, False)])
def test_above_one_the_chat_is_ahead(theirs: float, ahead: bool) -> None:
    rows = (row for row in ROWS.values() if row.peer)
    assert all(row.goals == (AHEAD,) for row in rows)
    line = Line(ROWS["S1"], compared([1e-3], [theirs]))
    assert line.met is ahead


def test_memory_against_a_peer() -> None:
    figures = against((4.0, 2.0), (10.0, 9.0))
    assert figures["÷ ours"] == Figure(2.5, "x")
    assert figures["their second half"] == Figure(9.0, "KiB")


class Told(Deliveries):
    """Deliveries that cost as much for each message, and as much for each stream."""

    def __init__(self, streams: int) -> None:
        self.cpu = []
        self._each = (5e-3 + 10e-6 * streams) / streams

    async def run(self, meter: Callable[[], Meter], count: int) -> None:
        self.cpu.append(self._each)


async def test_a_further_delivery_is_without_the_message() -> None:
    heard = Heard(Told(MANY), Told(FEW), lambda: Meter([]))
    await heard.run(3)
    assert heard.cpu == pytest.approx([5e-3 / MANY + 10e-6])
    assert heard.further == pytest.approx([10e-6])


def told(text: str) -> bytes:
    """A frame of a server, which has no mask."""
    size = len(text)
    if size < 126:
        return bytes((0x81, size)) + text.encode()
    if size < 2**16:
        return bytes((0x81, 126)) + size.to_bytes(2) + text.encode()
    return bytes((0x81, 127)) + size.to_bytes(8) + text.encode()


def test_readers_connect_once() -> None:
    """What asks them to connect stands in the first packet alone."""
    assert set(socket_io.SOCKETS.answers) == {socket_io.OPENED, told("2")}
    assert socket_io.OPENED not in socket_io.CONNECTED


class Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))


@pytest.mark.parametrize("step", [1, 7, 200_000])
async def test_a_socket_of_a_caller(step: int) -> None:
    """However the bytes arrive, each acknowledgement answers, and a ping is answered."""
    wire, answers = Wire(), list[tuple[int, bytes]]()
    made: Connection = Socket()
    made.connection_made(wire)
    page = "430" + "x" * 70_000
    for texts in (
        ['0{"sid":"a","pingInterval":25000}', '40{"sid":"b"}'],
        ["2", '42["message",{}]', page],
        ['41"x"'],
    ):
        made.send(b"asked", lambda *answer: answers.append(answer))
        data = UPGRADED * (not answers) + b"".join(map(told, texts))
        for start in range(0, len(data), step):
            made.data_received(data[start : start + step])
    assert answers == [(200, b'40{"sid":"b"}'), (200, page.encode()), (500, b'41"x"')]
    assert wire.sent == [b"asked", frame("40"), b"asked", frame("3"), b"asked"]


@pytest.mark.parametrize("step", [1, 7, 200_000])
async def test_a_session_of_a_caller(step: int) -> None:
    """However the bytes arrive: a login, a join, a message to the room, and a conflict."""
    wire, session = Wire(), ejabberd.Session()
    session.connection_made(wire)

    async def answered(asking: Coroutine[Any, Any, Any], *stanzas: bytes) -> Any:
        task = asyncio.create_task(asking)
        for stanza in stanzas:
            await asyncio.sleep(0)
            for start in range(0, len(stanza), step):
                session.data_received(stanza[start : start + step])
            await asyncio.sleep(0)
        return await task

    joined = b"<presence/><message><subject/></message>"
    login = (b"<features/><success xmlns='sasl'/>", b"<iq><bind/></bind></iq>")
    await answered(session.join("ann", ["room"]), *login, joined)
    copy = b"<message><stanza-id id='1'/><body>hello</body></message>"
    assert await answered(session.ask(ejabberd.SENDING), copy) == copy
    with pytest.raises(LoadFailed, match="500"):
        await answered(session.ask(ejabberd.SENDING), b"<message type='error'/>")
    opened, rest = ejabberd.opening("ann", []).split(REST)
    message = ejabberd.SENDING % b"room"
    assert wire.sent == [opened, rest, ejabberd.joining("room", "ann").encode(), message, message]


@pytest.mark.parametrize("size", [1, 125, 126, 1_000])
def test_frames_of_a_client_are_masked(size: int) -> None:
    sent = frame("x" * size)
    start = 2 if size < 126 else 4
    assert sent[1] & 0x80
    mask, data = sent[start : start + 4], sent[start + 4 :]
    assert bytes(a ^ mask[place % 4] for place, a in enumerate(data)) == b"x" * size


def test_cpu_time_is_that_of_the_process() -> None:
    before = cpu_seconds([os.getpid()])
    sum(range(200_000))
    after = cpu_seconds([os.getpid()])
    assert before < after == pytest.approx(time.process_time(), rel=0.1)


def test_figures_of_two_revisions_are_compared_within_a_round() -> None:
    """A machine that becomes twice as slow changes no ratio."""

    def measured(slowness: float, cpu: float) -> side_by_side.Round:
        return {("P1", "CPU per send"): Figure(cpu * slowness, "µs"), ("P1", f"{cpu}"): Figure(1)}

    pairs = [(measured(slow, 100), measured(slow, 90)) for slow in (1, 2, 1.5)]
    (change,) = side_by_side.ratios(pairs)
    assert change.label == ("P1", "CPU per send")
    assert (change.low, change.middle, change.high) == pytest.approx((0.9, 0.9, 0.9))
    assert (change.before.value, change.after.value) == pytest.approx((150, 135))
    assert "0.90 x (0.90 to 0.90)" in str(change)


def test_a_revision_that_does_not_exist() -> None:
    got = CliRunner().invoke(cli.main, ["--against", "no-such-revision", "--only", "F2"])
    assert got.exit_code == 1
    assert "no-such-revision" in got.output


def test_a_revision_measures_its_own_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small package and benchmark in place of the revision's and of this checkout."""
    bench = "import json, chat_aio; value = chat_aio.VALUE\n"
    bench += "figures = {'work': {'value': value, 'unit': 'x'}}\n"
    bench += "print(json.dumps([{'name': 'P1', 'figures': figures}]))\n"
    root = tmp_path / "root"
    (root / "scripts").mkdir(parents=True)
    (root / "chat_aio").mkdir()
    (root / "scripts/bench").write_text(bench)
    package = root / "chat_aio/__init__.py"

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)

    package.write_text("VALUE = 4\n")
    git("init")
    git("add", ".")
    git("commit", "-m", "before")
    package.write_text("VALUE = 3\n")
    monkeypatch.setattr(side_by_side, "ROOT", root)
    got = CliRunner().invoke(cli.main, ["--against", "HEAD", "--rounds", "2"])
    assert got.exit_code == 0, got.output
    assert "round 2 of 2" in got.output
    assert "0.75 x (0.75 to 0.75)" in got.output
