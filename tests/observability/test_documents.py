"""Table, dashboard and alerts name what there is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from chat_aio.observability.dispatch import notify
from chat_aio.observability.metrics import Metrics
from chat_aio.observability.observer import Observer, WebhookBacklog
from tests.observability.conftest import Measured

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/operations/observing.md").read_text()
DASHBOARD = json.loads((ROOT / "dashboards" / "chat_aio.json").read_text())
RULES = (ROOT / "dashboards" / "chat_aio.rules.yml").read_text()
RUNBOOK = (ROOT / "docs/operations/runbook.md").read_text()
LABELS = {"histogram": {"le"}}
SUFFIXES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}


def table(title: str) -> list[list[str]]:
    """The rows of the table whose head begins with `title`."""
    (found,) = re.findall(rf"^\| {title} \|.*\n\|[-|]+\n((?:\|.*\n)+)", DOCUMENT, re.M)
    return [[cell.strip(" `") for cell in row.split("|")[1:-1]] for row in found.splitlines()]


def families() -> dict[str, str]:
    """What Metrics has, and of which type."""
    registry = CollectorRegistry()
    Metrics(registry)
    return {family.name: family.type for family in registry.collect()}


def expressions() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


def named_in(text: str) -> set[str]:
    return set(re.findall(r"\bchat_aio_\w+", text))


async def test_the_table_says_which_metrics_there_are(measured: Measured) -> None:
    observers = measured.chat._context.observers
    notify(observers, Observer.webhooks_counted, "one", WebhookBacklog(waiting=0, dead=0))
    notify(observers, Observer.webhook_ended, "one", outcome="delivered", seconds=0.0)
    await measured("ada").get("/nowhere")
    async with measured("ada").tab():
        text = (await measured.scrape()).text
    found = {
        family.name: (family.type, {label for sample in family.samples for label in sample.labels})
        for family in text_string_to_metric_families(text)
        if not family.name.endswith("_created")
    }
    documented = {name: (kind, labels) for name, kind, labels, _ in table("Metric")}
    assert list(documented) == list(dict.fromkeys(documented))
    assert documented.keys() == found.keys() == families().keys()
    for name, (kind, labels) in documented.items():
        labels_of = set(re.findall(r"\w+", labels)) | LABELS.get(kind, set())
        assert found[name] == (kind, labels_of), name


@pytest.mark.parametrize("name", ["outcome", "source", "reason", "of"])
async def test_every_value_of_a_label_is_explained(measured: Measured, name: str) -> None:
    values = set(re.findall(rf'\b{name}="(\w+)"', (await measured.scrape()).text))
    assert values
    assert {value for value in values if f"`{value}`" not in DOCUMENT} == set()


@pytest.mark.parametrize("text", [*expressions(), RULES], ids=lambda text: text[:40])
def test_what_is_asked_for_exists(text: str) -> None:
    series = {name + end for name, kind in families().items() for end in SUFFIXES[kind]}
    assert named_in(text)
    assert named_in(text) <= series


def test_every_metric_is_on_the_dashboard() -> None:
    shown = named_in(" ".join(expressions()))
    for name, kind in families().items():
        assert shown & {name + end for end in SUFFIXES[kind]}, name


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at: dict[str, Any] = panel["gridPos"]
        own = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not own & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= own
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_is_documented() -> None:
    assert [row[0] for row in table("Alert")] == re.findall(r"- alert: (\w+)", RULES)


def test_every_alert_has_an_entry_in_the_runbook() -> None:
    """And the alert names it."""
    alerts = re.findall(r"- alert: (\w+)", RULES)
    assert sorted(re.findall(r"^## (\w+)$", RUNBOOK, re.M)) == sorted(alerts)
    named = re.findall(r"runbook: (\S+), (\w+)", RULES)
    assert named == [("docs/operations/runbook.md", alert) for alert in alerts]
    for part in ("Means", "Look", "Do"):
        assert RUNBOOK.count(f"**{part}**: ") == len(alerts)


def test_the_runbook_names_what_there_is() -> None:
    known = {name + end for name, kind in families().items() for end in ("", *SUFFIXES[kind])}
    assert named_in(RUNBOOK) <= known


def test_every_method_of_an_observer_is_documented() -> None:
    told = [name for name in vars(Observer) if not name.startswith("_")]
    documented = [name for row in table("Method") for name in row[0].split(", ")]
    assert sorted(documented) == sorted(told)
