"""The rules of a filter: what each finds in a message, and what is then done (docs/filters.md)."""

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import chain
from typing import Any, Literal

from chat_aio.actions.plugin_api import BeforeMessageSend, Conversation
from chat_aio.plugin_types.verdicts import Hold, Refuse, Report, Verdict
from chat_aio.plugins.folding import FoldedText, Lexicon
from chat_aio.plugins.links import MAX_LINKS, host_of, hosts_of, links_in

Action = Literal["refuse", "hold", "report"]

MOST_REMEMBERED = 100_000
"""The texts that `Repeats` remembers at most, the latest of each user and text."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A message that is looked at, its text, and the time."""

    message: BeforeMessageSend
    text: FoldedText
    at: datetime


@dataclass(frozen=True)
class Rule(ABC):
    """What all rules have. A rule of your own overrides `is_broken_by`, which must be quick.

    `reason` is what the sender or the moderators read. `conversations` are ids, or a function that
    says whether the rule applies to a conversation; None stands for all.
    """

    _: KW_ONLY
    action: Action = "refuse"
    reason: str = ""
    conversations: Collection[str] | Callable[[Conversation], bool] | None = None

    usual_reason = "This message breaks a rule."

    def __post_init__(self) -> None:
        if self.action not in ("refuse", "hold", "report"):
            raise ValueError(f"action must be refuse, hold or report, not {self.action!r}")
        if isinstance(self.conversations, str):
            raise ValueError("conversations must be a collection of ids, not one string")

    def applies_to(self, conversation: Conversation) -> bool:
        chosen = self.conversations
        if chosen is None:
            return True
        return bool(chosen(conversation)) if callable(chosen) else conversation.id in chosen

    @abstractmethod
    def is_broken_by(self, checked: Checked) -> bool: ...

    def verdict(self, reporter_id: str) -> Verdict:
        """What becomes of a message that breaks the rule."""
        reason = self.reason or self.usual_reason
        if self.action == "report":
            return Report(reason, reporter_id)
        return Hold(reason) if self.action == "hold" else Refuse(reason)


@dataclass(frozen=True)
class Words(Rule):
    """No listed word or phrase may be in a message, however it is disguised.

    Whole words only, so that a listed word within another one does no harm; with `anywhere` also
    within words. Words of scripts without spaces are found anywhere.
    """

    words: Collection[str]
    _: KW_ONLY
    anywhere: bool = False
    _lexicon: Lexicon = field(init=False, repr=False, compare=False)

    usual_reason = "This message has a word that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.words, str):
            raise ValueError("Words takes a collection of words, not one string")
        object.__setattr__(self, "_lexicon", Lexicon(self.words, anywhere=self.anywhere))

    def is_broken_by(self, checked: Checked) -> bool:
        return self._lexicon.finds_in(checked.text)


@dataclass(frozen=True)
class Links(Rule):
    """Limits links: to `allowed_hosts`, to others than `denied_hosts`, or to `at_most` in number.
    A host stands for its subdomains too. Without any of the three, no link is allowed."""

    _: KW_ONLY
    allowed_hosts: Collection[str] | None = None
    denied_hosts: Collection[str] = ()
    at_most: int | None = None
    _allowed: frozenset[str] | None = field(init=False, repr=False, compare=False)
    _denied: frozenset[str] = field(init=False, repr=False, compare=False)

    usual_reason = "This message has a link that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.allowed_hosts, str) or isinstance(self.denied_hosts, str):
            raise ValueError("Links takes collections of hosts, not one string")
        _require_count(self.at_most)
        allowed = None if self.allowed_hosts is None else _hosts(self.allowed_hosts)
        if allowed is None and not self.denied_hosts and self.at_most is None:
            allowed = frozenset()
        object.__setattr__(self, "_allowed", allowed)
        object.__setattr__(self, "_denied", _hosts(self.denied_hosts))

    def is_broken_by(self, checked: Checked) -> bool:
        # In normal form a text has links that it hides; as it was written, those that the normal
        # form breaks: a full-width slash ends a host only there.
        texts = {checked.text.seen, checked.message.body}
        links = [list(links_in(text)) for text in texts]
        at_most = MAX_LINKS if self.at_most is None else min(self.at_most, MAX_LINKS)
        if max(map(len, links)) > at_most:
            return True
        return not all(map(self._is_allowed, dict.fromkeys(chain(*links))))

    def _is_allowed(self, link: str) -> bool:
        if self._allowed is not None and self._allowed.isdisjoint(_names_of(host_of(link))):
            return False
        # A host that cannot be read may be any of the denied ones.
        return not self._denied or all(
            host and self._denied.isdisjoint(_names_of(host)) for host in hosts_of(link)
        )


def _require_count(at_most: int | None) -> None:
    """Raise ValueError for a limit that every message would exceed."""
    if at_most is not None and at_most < 0:
        raise ValueError(f"at_most must be 0 or more, not {at_most}")


def _hosts(listed: Collection[str]) -> frozenset[str]:
    hosts = {given: host_of(f"http://{given}") for given in listed}
    for given, host in hosts.items():
        if not host or "/" in given:
            raise ValueError(f"Links takes hosts such as example.org, not {given!r}")
    return frozenset(hosts.values())


def _names_of(host: str) -> list[str]:
    """A host, and the domains that it is below."""
    parts = host.split(".")
    return [".".join(parts[at:]) for at in range(len(parts))]


@dataclass(frozen=True)
class Attached(Rule):
    """Limits what a message carries: its attachments, and what clients put into the metadata, as a
    list under `key` of objects whose `kind_key` says what each is.

    `allowed_kinds` and `denied_kinds` are such values, or beginnings with a star (`image/*`); what
    says no kind has the empty one. Anything but a list counts as one attachment.
    """

    _: KW_ONLY
    key: str = "attachments"
    kind_key: str = "contentType"
    at_most: int | None = None
    allowed_kinds: Collection[str] | None = None
    denied_kinds: Collection[str] = ()

    usual_reason = "This message has an attachment that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.allowed_kinds, str) or isinstance(self.denied_kinds, str):
            raise ValueError("Attachments takes collections of kinds, not one string")
        _require_count(self.at_most)

    def is_broken_by(self, checked: Checked) -> bool:
        found = checked.message.metadata.get(self.key)
        listed = found if isinstance(found, list) else [] if found is None else [found]
        own = [
            {self.kind_key: attachment.content_type} for attachment in checked.message.attachments
        ]
        carried = [*own, *listed]
        if self.at_most is not None and len(carried) > self.at_most:
            return True
        if self.at_most is None and self.allowed_kinds is None and not self.denied_kinds:
            return bool(carried)
        return not all(self._is_allowed(self._kind_of(attachment)) for attachment in carried)

    def _kind_of(self, attachment: object) -> str:
        kind: Any = attachment.get(self.kind_key) if isinstance(attachment, Mapping) else None
        return kind.strip().lower() if isinstance(kind, str) else ""

    def _is_allowed(self, kind: str) -> bool:
        if any(_is_kind(kind, denied_kind) for denied_kind in self.denied_kinds):
            return False
        return self.allowed_kinds is None or any(
            _is_kind(kind, allowed_kind) for allowed_kind in self.allowed_kinds
        )


def _is_kind(kind: str, listed: str) -> bool:
    listed = listed.lower()
    return kind.startswith(listed[:-1]) if listed.endswith("*") else kind == listed


@dataclass(frozen=True)
class Repeats(Rule):
    """The same user sends the same text at most `at_most` times within `within_seconds`, wherever
    they send it. Edits do not count; case, hidden characters and the like make no difference.

    Each process counts by itself, and forgets the oldest texts if it remembers too many. What this
    rule has refused or held is not counted.
    """

    _: KW_ONLY
    at_most: int = 3
    within_seconds: float = 60.0
    _sent: "OrderedDict[bytes, deque[datetime]]" = field(
        init=False, repr=False, compare=False, default_factory=OrderedDict
    )

    usual_reason = "You have sent this several times already."

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at_most < 1 or self.within_seconds <= 0:
            raise ValueError("Repeats needs at_most of 1 or more and a positive time")

    def is_broken_by(self, checked: Checked) -> bool:
        if checked.message.kind == "edit":
            return False
        key = _digest(checked.message.user_id, checked.text.folded)
        times = self._sent.setdefault(key, deque())
        self._sent.move_to_end(key)
        since = checked.at - timedelta(seconds=self.within_seconds)
        while times and times[0] <= since:
            times.popleft()
        if len(times) >= self.at_most:
            return True
        times.append(checked.at)
        if len(self._sent) > MOST_REMEMBERED:
            self._sent.popitem(last=False)
        return False


def _digest(user_id: str, text: str) -> bytes:
    words = " ".join(text.split())
    return blake2b(f"{len(user_id)}:{user_id}{words}".encode(), digest_size=16).digest()
