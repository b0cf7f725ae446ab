"""Spans of requests and of batches, as a host's SDK gets them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from chat_aio import Hooks
from chat_aio.hooks import BeforeMessageSend
from chat_aio.observability.tracing import Tracing
from tests.observability.conftest import Measure
from tests.support.people import BASE

CANARY = "canary-7f3a"
SEND = f"POST {BASE}/conversations/{{conversation_id}}/messages"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}


class Spans:
    """What was traced."""

    def __init__(self) -> None:
        self.provider = TracerProvider(shutdown_on_exit=False)
        self._exporter = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def all(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name == name]


@pytest.fixture
async def spans() -> AsyncIterator[Spans]:
    made = Spans()
    yield made
    made.provider.shutdown()


def place(span: ReadableSpan) -> tuple[str, str | None]:
    """In which trace, below which span."""
    assert span.context is not None
    parent = f"{span.parent.span_id:016x}" if span.parent else None
    return f"{span.context.trace_id:032x}", parent


async def test_a_request_and_its_batch(measure: Measure, spans: Spans) -> None:
    measured = await measure(observers=(Tracing(spans.provider),))
    alice = measured(f"alice-{CANARY}")
    conversation_id = await alice.direct(f"bob-{CANARY}")
    path, sent = f"/conversations/{conversation_id}/messages", {"body": CANARY}
    assert (await alice.post(path, sent, headers=PARENT)).status == 201
    answer = await alice.post(path, sent)
    first, second = spans.named(SEND)
    assert (first.kind, second.kind) == (SpanKind.SERVER, SpanKind.SERVER)
    assert place(first) == (TRACE_ID, "b7ad6b7169203331")
    assert place(second)[0] != TRACE_ID
    assert place(second)[1] is None
    assert dict(second.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": f"{BASE}/conversations/{{conversation_id}}/messages",
        "url.scheme": "http",
        "http.response.status_code": 201,
        "chat_aio.request_id": answer.headers["X-Request-Id"],
    }
    batch = spans.named("chat_aio.batch")[-1]
    assert [link.context for link in batch.links] == [second.context]
    assert place(batch)[1] is None
    assert dict(batch.attributes or {}) == {
        "chat_aio.batch.messages": 1,
        "chat_aio.batch.outcome": "committed",
    }
    told = "".join(span.to_json() for span in spans.all())
    assert CANARY not in told
    assert conversation_id not in told


async def test_a_batch_names_all_whose_messages_it_carries(measure: Measure, spans: Spans) -> None:
    measured = await measure(observers=(Tracing(spans.provider),))
    alice = measured("alice")
    group = await alice.group("bob")
    await asyncio.gather(*(alice.send(group, str(number)) for number in range(20)))
    batches = spans.named("chat_aio.batch")
    linked = [link.context.span_id for batch in batches for link in batch.links]
    assert len(linked) == 20
    assert set(linked) == {span.context.span_id for span in spans.named(SEND) if span.context}
    for batch in batches:
        assert batch.attributes
        assert batch.attributes["chat_aio.batch.messages"] == len(batch.links)


async def test_failures_and_users(measure: Measure, spans: Spans) -> None:
    """A 500 is an error of ours, a 404 is not; whose it was is told where the host asks for it."""

    def fail(_: BeforeMessageSend) -> None:
        raise ValueError(CANARY)

    tracing = Tracing(spans.provider, user_ids=True)
    measured = await measure(Hooks(before_message_send=fail), observers=(tracing,))
    alice = measured("alice")
    conversation_id = await alice.direct("bob")
    await alice.post(f"/conversations/{conversation_id}/messages", {"body": "x"})
    await alice.get(f"/{CANARY}")
    (failed,), (unknown,) = spans.named(SEND), spans.named("GET (no route)")
    assert failed.status.status_code is StatusCode.ERROR
    assert unknown.status.status_code is StatusCode.UNSET
    assert failed.attributes
    assert unknown.attributes
    assert failed.attributes["error.type"] == "INTERNAL_ERROR"
    assert unknown.attributes["error.type"] == "NOT_FOUND"
    assert failed.attributes["user.id"] == unknown.attributes["user.id"] == "alice"
    assert CANARY not in "".join(span.to_json() for span in spans.all())


async def test_a_stream_is_answered_when_it_opens(measure: Measure, spans: Spans) -> None:
    measured = await measure(observers=(Tracing(spans.provider),))
    async with measured("ada").tab():
        (opened,) = spans.named(f"GET {BASE}/stream")
        assert opened.attributes
        assert opened.attributes["http.response.status_code"] == 200
    await measured("ada").get("/conversations")
    assert len(spans.all()) == 2


async def test_below_a_span_of_the_hosts_own(measure: Measure, spans: Spans) -> None:
    """As where the host has instrumented aiohttp; and its spans go on behind ours."""
    tracer = spans.provider.get_tracer("host")

    @web.middleware
    async def traced(request: web.Request, handler: Any) -> web.StreamResponse:
        with tracer.start_as_current_span("outer"):
            response: web.StreamResponse = await handler(request)
            tracer.start_span("behind").end()
            return response

    measured = await measure(observers=(Tracing(spans.provider),), middlewares=(traced,))
    await measured("ada").get("/conversations", headers=PARENT)
    (outer,), (ours,), (behind,) = (
        spans.named(name) for name in ("outer", f"GET {BASE}/conversations", "behind")
    )
    assert ours.kind is SpanKind.INTERNAL
    assert ours.parent == behind.parent == outer.context
