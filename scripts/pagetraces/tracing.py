"""One page under Chromium's tracing: frames, the main thread's tasks, the heap."""

import asyncio
import json
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from playwright.async_api import CDPSession, Page

CATEGORIES = "devtools.timeline,disabled-by-default-devtools.timeline.frame,toplevel"
FRAME_MS = 1_000 / 60


@dataclass
class Trace:
    """The results of a span of tracing; times in milliseconds."""

    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def frames(self) -> list[float]:
        """The times between drawn frames."""
        drawn = sorted(event["ts"] for event in self.events if event["name"] == "DrawFrame")
        return [(after - before) / 1_000 for before, after in pairwise(drawn)]

    @property
    def dropped(self) -> int:
        return sum(event["name"] == "DroppedFrame" for event in self.events)

    @property
    def tasks(self) -> list[float]:
        """The durations of the tasks of the page's main thread."""
        main = {
            (event["pid"], event["tid"])
            for event in self.events
            if event["name"] == "thread_name" and event["args"].get("name") == "CrRendererMain"
        }
        tasks = [
            event["dur"] / 1_000
            for event in self.events
            if event["name"] == "ThreadControllerImpl::RunTask"
            and "dur" in event
            and (event["pid"], event["tid"]) in main
        ]
        return sorted(tasks, reverse=True)

    def summary(self) -> dict[str, float]:
        frames, tasks = self.frames, self.tasks
        late = sum(frame > 2 * FRAME_MS for frame in frames)
        return {
            "frames": len(frames),
            "median ms between frames": round(statistics.median(frames), 1) if frames else 0,
            "later than one frame %": round(100 * late / max(1, len(frames)), 1),
            "dropped": self.dropped,
            "longest task ms": round(tasks[0], 1) if tasks else 0,
            "tasks over 50 ms": sum(task > 50 for task in tasks),
        }


@asynccontextmanager
async def traced(session: CDPSession) -> AsyncIterator[Trace]:
    """Trace the code inside the context; the trace is complete after it."""
    trace = Trace()
    ended = asyncio.Event()
    session.on("Tracing.dataCollected", lambda given: trace.events.extend(given["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.set())
    await session.send("Tracing.start", {"categories": CATEGORIES, "transferMode": "ReportEvents"})
    try:
        yield trace
    finally:
        await session.send("Tracing.end")
        await ended.wait()


async def scroll(session: CDPSession, page: Page, where: str, *, pixels: int, speed: int) -> None:
    """Scroll as fingers do, over the middle of an element; `speed` in pixels a second."""
    box = await page.locator(where).bounding_box()
    assert box is not None, where
    gesture = {
        "x": box["x"] + box["width"] / 2,
        "y": box["y"] + box["height"] / 2,
        "yDistance": pixels,
        "speed": speed,
        "preventFling": True,
        "gestureSourceType": "mouse",
    }
    await session.send("Input.synthesizeScrollGesture", gesture)


async def heap_mib(session: CDPSession) -> float:
    """The page's JavaScript heap after its garbage was collected."""
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    return float(round(used["usedSize"] / 2**20, 2))


async def nodes(session: CDPSession) -> int:
    """The number of the page's nodes, including those that are kept without being shown."""
    counters = await session.send("Memory.getDOMCounters")
    return int(counters["nodes"])


async def first_paint_ms(page: Page) -> float:
    script = """() => JSON.stringify(performance.getEntriesByType("paint").map(
        (each) => [each.name, each.startTime]))"""
    paints = dict(json.loads(await page.evaluate(script)))
    return float(round(paints["first-contentful-paint"]))
