"""A process with one event stream that notes the age of each message when it arrives.

It prints `ready` when the stream is open. For each number that it receives it answers `P50 P99
MOST`, in seconds by the wall clock, of that number of next messages.
"""

import json
import re
import socket
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import BinaryIO

from benchmarks.load import percentile
from benchmarks.readers import fail

OPEN = b": open\n"
_CREATED = re.compile(rb'"createdAt":"([^"]+)"')


def ages(lines: BinaryIO) -> Iterator[float]:
    """The seconds from a message's `createdAt` until its frame is read, message by message."""
    for line in lines:
        if created := _CREATED.search(line):
            yield time.time() - datetime.fromisoformat(created[1].decode()).timestamp()


def watch(port: int, request: bytes) -> None:
    """Answer until the pipe closes."""
    with socket.create_connection(("127.0.0.1", port)) as opened, opened.makefile("rb") as lines:
        opened.sendall(request)
        if OPEN not in lines:
            fail("the stream was refused, or ended at once")
        print("ready", flush=True)
        found = ages(lines)
        for told in sys.stdin:
            taken = list(islice(found, int(told)))
            if len(taken) < int(told):
                fail("the stream was ended")
            print(percentile(taken, 50), percentile(taken, 99), max(taken), flush=True)


if __name__ == "__main__":
    given = json.loads(sys.stdin.readline())
    watch(given["port"], given["request"].encode())
