"""Filter: rules on the content of messages, and a classifier of the host's."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, get_args

from chat_aio.actions.plugin_api import BeforeMessageSend
from chat_aio.plugin_types.base import Plugin
from chat_aio.plugin_types.verdicts import Refuse, Verdict, strictest
from chat_aio.plugins.breaker import Breaker
from chat_aio.plugins.folding import FoldedText
from chat_aio.plugins.rules import Checked, Rule
from chat_aio.tasks import answered

log = logging.getLogger(__name__)

Classifier = Callable[[BeforeMessageSend], Awaitable[Verdict | None]]

FAILURES = 5
OPEN_SECONDS = 30.0
UNCHECKED = "This message could not be checked; try again later."


class Filter(Plugin):
    """Asks its rules about each message that is sent, edited or forwarded, then its classifier; the
    strictest verdict counts (docs/guides/filters.md).

    `reporter_id` is the reporting user. The classifier is your async function. It is waited for
    `classifier_timeout` seconds and never cancelled. After five failures in a row it is called once
    in thirty seconds only, until it answers. A message that it could not judge goes out with
    `on_failure="open"`, and is refused with "closed".
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        classifier: Classifier | None = None,
        classifier_timeout: float = 2.0,
        on_failure: Literal["open", "closed"] = "open",
        reporter_id: str = "filter",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if on_failure not in ("open", "closed"):
            raise ValueError(f"on_failure must be open or closed, not {on_failure!r}")
        if classifier_timeout <= 0:
            raise ValueError("classifier_timeout must be positive")
        self._rules = tuple(rules)
        self._classifier = classifier
        self._timeout = classifier_timeout
        self._fails_closed = on_failure == "closed"
        self._reporter_id = reporter_id
        self._breaker = Breaker(failures=FAILURES, open_seconds=OPEN_SECONDS, clock=clock)

    async def open(self) -> None:
        """Raises ValueError if the chat would give up before the classifier's time is over."""
        limit = self.api.hook_timeout_seconds
        if self._classifier is not None and self._timeout >= limit:
            raise ValueError(f"classifier_timeout must be below hook_timeout_seconds ({limit})")

    async def check_message(self, message: BeforeMessageSend) -> Verdict | None:
        verdict: Verdict | None = None
        rules = [rule for rule in self._rules if rule.applies_to(message.conversation)]
        if rules:

            def judge() -> Verdict | None:
                checked = Checked(message, FoldedText(message.body), self.api.now())
                found: Verdict | None = None
                for rule in rules:
                    if rule.is_broken_by(checked):
                        found = strictest(found, rule.verdict(self._reporter_id))
                    if isinstance(found, Refuse):
                        break
                return found

            verdict = await self.api.run_cpu_bound(message.body, judge)
        # Nothing is stricter than a refusal, so the classifier is spared.
        if self._classifier is None or isinstance(verdict, Refuse):
            return verdict
        if_unchecked = strictest(verdict, Refuse(UNCHECKED) if self._fails_closed else None)
        if not self._breaker.lets_through():
            return if_unchecked
        try:
            judged = await answered(self._classifier(message), self._timeout)
            if judged is not None and not isinstance(judged, get_args(Verdict)):
                raise TypeError(f"a classifier must return a verdict or None, not {type(judged)}")
        except Exception:
            log.exception("the classifier of messages failed")
            if self._breaker.failed():
                log.error("the classifier failed %d times: asked seldom from now on", FAILURES)
            return if_unchecked
        self._breaker.succeeded()
        return strictest(verdict, judged)
