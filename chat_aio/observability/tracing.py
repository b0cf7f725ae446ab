"""Traces for OpenTelemetry, from the extra `otel`. Spans are recorded if the host has an SDK."""

from contextvars import Token
from importlib.metadata import version

from opentelemetry import context, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TracerProvider

from chat_aio.observability.observer import Answer, Batch, BatchResult, Observer, Request

Begun = tuple[Span, Token[Context]]

MOST_LINKS = 128
ERROR = Status(StatusCode.ERROR)


def has_sdk() -> bool:
    """Whether this process has an SDK, without which no span is recorded."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


class Tracing(Observer):
    """A span for each request, and one for each batch of messages, linked to the spans of their
    requests.

    A request's span is a child of the host's span if there is one, else of the trace that its
    headers name. `user_ids` adds the acting user's id. Spans contain no text of users, no paths and
    no headers.
    """

    def __init__(self, provider: TracerProvider | None = None, *, user_ids: bool = False) -> None:
        self._tracer: Tracer = trace.get_tracer("chat_aio", version("chat-aio"), provider)
        self._user_ids = user_ids
        self._begun: dict[Request | Batch, Begun] = {}

    def request_begun(self, request: Request) -> None:
        # The host's own instrumentation may have begun a span for this request.
        is_inner = trace.get_current_span().get_span_context().is_valid
        span = self._tracer.start_span(
            f"{request.method} {request.route}",
            context=None if is_inner else propagate.extract(request.headers),
            kind=SpanKind.INTERNAL if is_inner else SpanKind.SERVER,
            attributes={
                "http.request.method": request.method,
                "http.route": request.route,
                "url.scheme": request.scheme,
            },
        )
        self._enter(request, span)

    def request_answered(self, request: Request, answer: Answer) -> None:
        if (span := self._leave(request)) is None:
            return
        span.set_attribute("http.response.status_code", answer.status)
        if answer.code is not None:
            span.set_attribute("error.type", answer.code)
        if answer.request_id is not None:
            span.set_attribute("chat_aio.request_id", answer.request_id)
        if self._user_ids and answer.user_id is not None:
            span.set_attribute("user.id", answer.user_id)
        if answer.status >= 500:
            span.set_status(ERROR)
        span.end()

    def batch_begun(self, batch: Batch) -> None:
        senders = (
            origin.run(trace.get_current_span).get_span_context() for origin in batch.origins
        )
        # Links, not a parent: a batch belongs to several requests.
        links = {sender.span_id: Link(sender) for sender in senders if sender.is_valid}
        span = self._tracer.start_span(
            "chat_aio.batch",
            links=list(links.values())[:MOST_LINKS],
            attributes={"chat_aio.batch.messages": batch.messages},
        )
        self._enter(batch, span)

    def batch_ended(self, batch: Batch, written: BatchResult) -> None:
        if (span := self._leave(batch)) is None:
            return
        span.set_attribute("chat_aio.batch.outcome", written.outcome)
        if written.outcome == "failed":
            span.set_status(ERROR)
        span.end()

    def _enter(self, of: Request | Batch, span: Span) -> None:
        """Make the span current: spans begun in this context from now on are its children."""
        self._begun[of] = span, context.attach(trace.set_span_in_context(span))

    def _leave(self, of: Request | Batch) -> Span | None:
        # None if no span was begun, because `request_begun` or `batch_begun` has failed.
        span, token = self._begun.pop(of, (None, None))
        if token is not None:
            context.detach(token)
        return span
