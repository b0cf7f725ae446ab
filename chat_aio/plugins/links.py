"""The links of a text, and the hosts to which browsers follow them.

Links are found as the browser client finds them (`browser/inline.js`), and hosts are read as in the
URL standard. A host that cannot be read is empty: rules decide what that means.
"""

import socket
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

import idna
import regex

MAX_LINKS = 500
"""The links of one message that are read; a message with more breaks every rule about links."""

LONGEST_HOST = 253
LONGEST_LABEL = 63

_END = (
    r"\t-\r\x20\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    r"<>\"`\u202a-\u202e\u2066-\u2069"
)
"""The characters that end a link in `inline.js`: a link that ended earlier or later would hide its
host, or the link after it."""

_LINK = regex.compile(
    rf"""
    # The text of a link in Markdown may be an address as well.
    (?:https?://|(?<![\p{{L}}\p{{N}}])www\.(?=[\p{{L}}\p{{N}}-]+\.[\p{{L}}\p{{N}}]))
        (?:(?!\]\(https?://)[^{_END}])++
    # No link of the client, but one for others: a link within it counts as well.
    |(?:
        (?<![\p{{L}}\p{{N}}])www\.(?=[^{_END}])
        |(?<![\p{{L}}\p{{N}}@._-])(?:[\p{{L}}\p{{N}}-]++\.)++\p{{L}}[\p{{L}}\p{{N}}-]*+/
    )
        (?:(?!https?://|www\.)[^{_END}])*+
    """,
    regex.IGNORECASE | regex.VERBOSE,
)
"""A link has a scheme, begins with `www.`, or is a host with a path."""

_SCHEME = regex.compile(r"https?://[/\\]*+", regex.IGNORECASE)
_AFTER_HOST = regex.compile(r"[/\\?#]")
_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
_FORBIDDEN = regex.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_PLAIN = regex.compile(r"[\p{L}\p{N}\p{M}._-]++")
_NUMBER = regex.compile(r"[0-9]+|0x[0-9a-f]*")


def links_in(text: str) -> Iterator[str]:
    """The links of a text, in their order, at most one more than MAX_LINKS."""
    for number, found in enumerate(_LINK.finditer(text)):
        yield found[0]
        if number == MAX_LINKS:
            return


def host_of(link: str) -> str:
    """The host of a link in lower case and in Unicode; empty if it cannot be read.

    Browsers skip surplus slashes, read a backslash as a slash, ignore the user before an `@`,
    decode `%` and drop ignorable characters.
    """
    scheme = _SCHEME.match(link)
    rest = link[scheme.end() :] if scheme else link
    place, *path = _AFTER_HOST.split(rest, maxsplit=1)
    host = place.rpartition("@")[2]
    if not path:
        # Behind a host without a path, the punctuation of the sentence is no part of it.
        end = len(host)
        while end and unicodedata.category(host[end - 1])[0] not in "LNM":
            end -= 1
        host = host[:end]
    host, _, port = host.partition(":")
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5):
        return ""
    return _mapped(_IGNORABLE.sub("", unquote(host)))


def hosts_of(link: str) -> Iterator[str]:
    """The host of a link, and the shorter one for programs that end links at punctuation."""
    host = host_of(link)
    yield host
    shorter = _PLAIN.match(host)
    if shorter is not None and shorter[0] != host:
        yield _mapped(shorter[0])


def _mapped(host: str) -> str:
    # Bounded before it is normalised, which takes quadratic time for a run of marks.
    if not host or len(host) > 2 * LONGEST_HOST:
        return ""
    try:
        mapped = idna.uts46_remap(host, std3_rules=False).rstrip(".")
        labels = [_label(label) for label in mapped.split(".")]
        if _FORBIDDEN.search(mapped) or not all(len(label) <= LONGEST_LABEL for label in labels):
            return ""
        if _NUMBER.fullmatch(labels[-1]):
            # All spellings of an IPv4 address: in one number, octal, hexadecimal.
            return socket.inet_ntoa(socket.inet_aton(mapped))
    except (UnicodeError, OSError):
        return ""
    return ".".join(labels)


def _label(label: str) -> str:
    """A part of a host in Unicode. Raises UnicodeError if its `xn--` form is not a valid one."""
    if not label.startswith("xn--") or len(label) > LONGEST_LABEL:
        return label
    decoded = label[4:].encode("ascii").decode("punycode")
    if decoded.isascii() or idna.uts46_remap(decoded, std3_rules=False) != decoded:
        raise UnicodeError("this is not the form of any label")
    return decoded
