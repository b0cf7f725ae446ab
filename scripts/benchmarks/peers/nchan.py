"""nginx with nchan, which passes posted events on: its configuration, process and requests."""

import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks.data import message_document
from benchmarks.processes import LoadFailed, listening, program
from benchmarks.stage import Service
from benchmarks.table import MissingPeer, Peer
from chat_aio.live.frames import message_frame
from chat_aio.schema.models import NO_OPTIONAL_FIELDS

MODULE = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
PATH = "/usr/sbin:/usr/local/sbin"
ACCEPT = "Host: bench\r\nAccept: text/event-stream"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
CONFIGURATION = f"""
load_module {MODULE};
daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
worker_rlimit_nofile 20000;
events {{ worker_connections 20000; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  %s
  server {{
    listen 127.0.0.1:%d backlog=2048;
    location ~ ^/publish/(.+)$ {{ nchan_publisher; nchan_channel_id $1; }}
    location ~ ^/subscribe/(.+)$ {{
      nchan_subscriber eventsource;
      nchan_channel_id $1;
      nchan_eventsource_ping_interval 15;
    }}
  }}
}}
"""


def prepare() -> str:
    """The version of nginx."""
    nginx = _nginx()
    if nginx is None or not MODULE.exists():
        install = "apt install --no-install-recommends nginx-light libnginx-mod-nchan"
        raise MissingPeer(f"no nginx with nchan ({MODULE}); Debian: {install}")
    said = subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr
    return f"{said.strip().rpartition(' ')[2]}, one process"


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path=PATH)


NCHAN = Peer("nchan", prepare)


@asynccontextmanager
async def serving() -> AsyncIterator[Service]:
    """nginx as one process, with a temporary folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    paths = "\n  ".join(f"{kind}_temp_path {kind};" for kind in TEMPORARY)
    with tempfile.TemporaryDirectory(prefix="chat-bench-") as folder:
        (Path(folder) / "nginx.conf").write_text(CONFIGURATION % (paths, port))
        command = (_nginx() or "nginx", "-p", folder, "-c", "nginx.conf", "-e", "error.log")
        async with program(*command) as process:
            if not await listening(port):
                raise LoadFailed(f"nginx has not started: {_said(folder)}")
            yield Service(process, port)


def _said(folder: str) -> str:
    return (Path(folder) / "error.log").read_text()


def subscribing(channel: str) -> bytes:
    return f"GET /subscribe/{channel} HTTP/1.1\r\n{ACCEPT}\r\n\r\n".encode()


def publishing(channel: str) -> bytes:
    """A POST of the data of a message event, as in the chat's streams."""
    document = message_document(channel, 1, f"{channel}-u000", message_id="0" * 24)
    frame = message_frame("message.created", document, {}, NO_OPTIONAL_FIELDS)
    data = frame.plain.partition(b"data: ")[2].strip()
    head = (
        f"POST /publish/{channel} HTTP/1.1\r\nHost: bench\r\n"
        f"X-EventSource-Event: message.created\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data
