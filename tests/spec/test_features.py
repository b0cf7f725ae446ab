"""No page denies a feature that the table of docs/start/features.md has."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DENYING = [
    *((page, "What we do not have") for page in sorted((DOCS / "start/coming-from").glob("*.md"))),
    (DOCS / "start/features.md", "Not included"),
]
"""The pages with a list of what is missing, and its heading."""

ROW = re.compile(r"^\| (?P<feature>[^|]+) \| (?P<names>[^|]+) \| \[", re.M)
EXCEPT = {
    "stream-chat.md": {"webhooks", "presence", "read states"},
}
"""Names of a feature that a page restricts: webhooks have no events of typing and presence."""


def names_of_features() -> set[str]:
    """The features, and all other names of each, such as "pinned messages" and "pins"."""
    rows = list(ROW.finditer((DOCS / "start/features.md").read_text()))
    others = [name for row in rows for name in row["names"].split(",")]
    return {name.strip(" `").lower() for name in [*others, *(row["feature"] for row in rows)]}


def section(page: Path, heading: str) -> str:
    _, _, rest = page.read_text().partition(f"## {heading}\n")
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize(("page", "heading"), DENYING, ids=lambda value: getattr(value, "name", ""))
def test_no_feature_is_denied(page: Path, heading: str) -> None:
    text = section(page, heading).lower()
    assert text, f"{page.name} has no section {heading!r}"
    names = names_of_features() - EXCEPT.get(page.name, set())
    assert len(names) > 80, "the table has another form"
    denied = {name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)}
    assert denied == set()
