"""The rules of a filter: their findings in a message, and the actions (docs/guides/filters.md)."""

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
"""The texts that `RepeatLimit` remembers at most, the latest of each user and text."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A message that is looked at, its text, and the time."""

    message: BeforeMessageSend
    text: FoldedText
    at: datetime


@dataclass(frozen=True)
class Rule(ABC):
    """The base of all rules. A custom rule overrides `is_broken_by`, which must be quick.

    `reason` is what the sender or the moderators read. `conversations` are ids, or a function that
    decides whether the rule applies to a conversation; None means all.
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
class BlockedWords(Rule):
    """No listed word or phrase may be in a message, however it is disguised.

    Whole words only, so that a listed word within another one does no harm; with `match_substrings`
    also within words. Words of scripts without spaces are found anywhere.
    """

    words: Collection[str]
    _: KW_ONLY
    match_substrings: bool = False
    _lexicon: Lexicon = field(init=False, repr=False, compare=False)

    usual_reason = "This message has a word that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.words, str):
            raise ValueError("BlockedWords takes a collection of words, not one string")
        object.__setattr__(
            self, "_lexicon", Lexicon(self.words, match_substrings=self.match_substrings)
        )

    def is_broken_by(self, checked: Checked) -> bool:
        return self._lexicon.finds_in(checked.text)


@dataclass(frozen=True)
class LinkRule(Rule):
    """Limits links: to `allowed_hosts`, to others than `denied_hosts`, or to `max_count` in number.
    A host includes its subdomains. Without any of the three, no link is allowed."""

    _: KW_ONLY
    allowed_hosts: Collection[str] | None = None
    denied_hosts: Collection[str] = ()
    max_count: int | None = None
    _allowed: frozenset[str] | None = field(init=False, repr=False, compare=False)
    _denied: frozenset[str] = field(init=False, repr=False, compare=False)

    usual_reason = "This message has a link that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.allowed_hosts, str) or isinstance(self.denied_hosts, str):
            raise ValueError("LinkRule takes collections of hosts, not one string")
        _require_count(self.max_count)
        allowed = None if self.allowed_hosts is None else _hosts(self.allowed_hosts)
        if allowed is None and not self.denied_hosts and self.max_count is None:
            allowed = frozenset()
        object.__setattr__(self, "_allowed", allowed)
        object.__setattr__(self, "_denied", _hosts(self.denied_hosts))

    def is_broken_by(self, checked: Checked) -> bool:
        # In normal form a text has links that it hides; as it was written, those that the normal
        # form breaks: a full-width slash ends a host only there.
        texts = {checked.text.seen, checked.message.body}
        links = [list(links_in(text)) for text in texts]
        max_count = MAX_LINKS if self.max_count is None else min(self.max_count, MAX_LINKS)
        if max(map(len, links)) > max_count:
            return True
        for link in dict.fromkeys(chain(*links)):
            if self._allowed is not None and self._allowed.isdisjoint(_names_of(host_of(link))):
                return True
            # A host that cannot be read may be any of the denied ones.
            if self._denied and not all(
                host and self._denied.isdisjoint(_names_of(host)) for host in hosts_of(link)
            ):
                return True
        return False


def _require_count(max_count: int | None) -> None:
    """Raise ValueError for a limit that every message would exceed."""
    if max_count is not None and max_count < 0:
        raise ValueError(f"max_count must be 0 or more, not {max_count}")


def _hosts(listed: Collection[str]) -> frozenset[str]:
    hosts = {given: host_of(f"http://{given}") for given in listed}
    for given, host in hosts.items():
        if not host or "/" in given:
            raise ValueError(f"LinkRule takes hosts such as example.org, not {given!r}")
    return frozenset(hosts.values())


def _names_of(host: str) -> list[str]:
    """A host, and the domains that it is below."""
    parts = host.split(".")
    return [".".join(parts[at:]) for at in range(len(parts))]


@dataclass(frozen=True)
class AttachmentRule(Rule):
    """Limits what a message carries: its attachments, and what clients put into the metadata, as a
    list under `key` of objects whose `kind_key` names the kind of each.

    `allowed_kinds` and `denied_kinds` are such values, or beginnings with a star (`image/*`); what
    says no kind has the empty one. Anything but a list counts as one attachment.
    """

    _: KW_ONLY
    key: str = "attachments"
    kind_key: str = "contentType"
    max_count: int | None = None
    allowed_kinds: Collection[str] | None = None
    denied_kinds: Collection[str] = ()

    usual_reason = "This message has an attachment that is not allowed here."

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.allowed_kinds, str) or isinstance(self.denied_kinds, str):
            raise ValueError("AttachmentRule takes collections of kinds, not one string")
        _require_count(self.max_count)

    def is_broken_by(self, checked: Checked) -> bool:
        found = checked.message.metadata.get(self.key)
        listed = found if isinstance(found, list) else [] if found is None else [found]
        own = [
            {self.kind_key: attachment.content_type} for attachment in checked.message.attachments
        ]
        carried = [*own, *listed]
        if self.max_count is not None and len(carried) > self.max_count:
            return True
        # A rule without any limit forbids attachments: otherwise it would have no effect.
        if self.max_count is None and self.allowed_kinds is None and not self.denied_kinds:
            return bool(carried)
        for attachment in carried:
            kind: Any = attachment.get(self.kind_key) if isinstance(attachment, Mapping) else None
            kind = kind.strip().lower() if isinstance(kind, str) else ""
            if any(_is_kind(kind, denied_kind) for denied_kind in self.denied_kinds):
                return True
            if self.allowed_kinds is not None and not any(
                _is_kind(kind, allowed_kind) for allowed_kind in self.allowed_kinds
            ):
                return True
        return False


def _is_kind(kind: str, listed: str) -> bool:
    listed = listed.lower()
    return kind.startswith(listed[:-1]) if listed.endswith("*") else kind == listed


@dataclass(frozen=True)
class RepeatLimit(Rule):
    """The same user sends the same text at most `max_count` times within `within_seconds`, wherever
    they send it. Edits do not count; case, hidden characters and the like make no difference.

    Each process counts by itself, and forgets the oldest texts if it remembers too many. What this
    rule has refused or held is not counted.
    """

    _: KW_ONLY
    max_count: int = 3
    within_seconds: float = 60.0
    _sent: "OrderedDict[bytes, deque[datetime]]" = field(
        init=False, repr=False, compare=False, default_factory=OrderedDict
    )

    usual_reason = "You have sent this several times already."

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_count < 1 or self.within_seconds <= 0:
            raise ValueError("RepeatLimit needs max_count of 1 or more and a positive time")

    def is_broken_by(self, checked: Checked) -> bool:
        if checked.message.kind == "edit":
            return False
        # A digest, because up to 100,000 texts are remembered. The length separates the user's id
        # from the text, or two users could share a key.
        user_id, words = checked.message.user_id, " ".join(checked.text.folded.split())
        key = blake2b(f"{len(user_id)}:{user_id}{words}".encode(), digest_size=16).digest()
        times = self._sent.setdefault(key, deque())
        # The oldest are forgotten first, by their last use.
        self._sent.move_to_end(key)
        since = checked.at - timedelta(seconds=self.within_seconds)
        while times and times[0] <= since:
            times.popleft()
        if len(times) >= self.max_count:
            return True
        # Only now: a message that is refused does not count.
        times.append(checked.at)
        if len(self._sent) > MOST_REMEMBERED:
            self._sent.popitem(last=False)
        return False
