"""Pages for operators and moderators quote the service and its settings correctly."""

import ast
import itertools
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]
from aiohttp import web

from chat_aio.admin.cli import main
from chat_aio.options import Options
from chat_aio.server.settings import PREFIX, SETTINGS
from chat_aio.server.sources import DEFAULT, find_settings
from chat_aio.web.health import add_health
from chat_aio.web.routes import ROUTES
from tests.support.page_texts import texts_of
from tests.support.processes import ROOT

PAGES = ROOT / "docs" / "operations"
KUBERNETES = (PAGES / "kubernetes.md").read_text()
TROUBLES = (PAGES / "troubleshooting.md").read_text()
HANDBOOK = (ROOT / "docs" / "moderation" / "handbook.md").read_text()
MOUNT = "/api/chat"


@pytest.fixture(scope="module")
def manifests() -> dict[tuple[str, str], Any]:
    """The manifests by kind and name."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", KUBERNETES, re.DOTALL | re.MULTILINE)
    parsed = [document for block in blocks for document in yaml.safe_load_all(block)]
    found = {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in parsed}
    assert len(found) == len(parsed)
    return found


@pytest.fixture
def pod(manifests: dict[tuple[str, str], Any]) -> Any:
    return manifests["Deployment", "chat"]["spec"]["template"]["spec"]


def test_the_file_is_valid(manifests: dict[tuple[str, str], Any], tmp_path: Path, pod: Any) -> None:
    ((name, text),) = manifests["ConfigMap", "chat-config"]["data"].items()
    file = tmp_path / name
    file.write_text(text)
    found = find_settings(config=str(file))
    assert all(found[key].place != DEFAULT for key in tomllib.loads(text))
    (container,) = pod["containers"]
    (mount,) = [
        volume_mount
        for volume_mount in container["volumeMounts"]
        if volume_mount["name"] == "config"
    ]
    assert environment(container)["CHAT_AIO_CONFIG"] == f"{mount['mountPath']}/{name}"


def environment(container: Any) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in container["env"]}


def test_variables_and_commands_exist(manifests: dict[tuple[str, str], Any]) -> None:
    known = {PREFIX + name.upper() for name in SETTINGS} | {f"{PREFIX}CONFIG"}
    for kind in ("Deployment", "Job"):
        name = "chat" if kind == "Deployment" else "chat-indexes"
        spec = manifests[kind, name]["spec"]["template"]["spec"]
        assert spec["enableServiceLinks"] is False
        (container,) = spec["containers"]
        assert {*environment(container)} <= known
        require_command([*container.get("args", []), *container.get("command", [])])


def test_ports_users_and_probes(manifests: dict[tuple[str, str], Any], pod: Any) -> None:
    (container,) = pod["containers"]
    (port,) = container["ports"]
    image = (ROOT / "Dockerfile").read_text()
    assert environment(container)["CHAT_AIO_PORT"] == str(port["containerPort"])
    assert f"USER {pod['securityContext']['runAsUser']}:" in image
    app = web.Application()
    add_health(app)
    served = {resource.canonical for resource in app.router.resources()}
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert {probe["path"] for probe in probes} == served
    (service,) = manifests["Service", "chat"]["spec"]["ports"]
    assert {service["targetPort"], *(probe["port"] for probe in probes)} == {port["name"]}
    labels = manifests["Deployment", "chat"]["spec"]["template"]["metadata"]["labels"]
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert manifests[kind, "chat"]["spec"]["selector"]["matchLabels"] == labels
    assert manifests["Service", "chat"]["spec"]["selector"] == labels
    (_, pause) = container["lifecycle"]["preStop"]["exec"]["command"]
    assert pod["terminationGracePeriodSeconds"] > int(pause) + 5


def test_the_ingress_fits_the_stream(manifests: dict[tuple[str, str], Any]) -> None:
    assert "/stream" in {route.path for route in ROUTES}
    for name, path in (("chat", MOUNT), ("chat-stream", f"{MOUNT}/stream")):
        ingress = manifests["Ingress", name]
        (rule,) = ingress["spec"]["rules"]
        (given,) = rule["http"]["paths"]
        assert given["path"] == path
        config = manifests["ConfigMap", "chat-config"]["data"]["chat.toml"]
        settings = tomllib.loads(config)
        passed = ingress["metadata"]["annotations"][
            "nginx.ingress.kubernetes.io/auth-response-headers"
        ]
        assert passed.split(", ") == [settings["auth_header"], settings["moderator_header"]]
        assert settings["allowed_origins"] == [f"https://{rule['host']}"]
    notes = manifests["Ingress", "chat-stream"]["metadata"]["annotations"]
    timeout = int(notes["nginx.ingress.kubernetes.io/proxy-read-timeout"])
    assert timeout * 1000 > 2 * Options().heartbeat_interval_ms


def require_command(words: list[str]) -> None:
    """`chat-aio` has this command, with these options."""
    assert words.pop(0) == "chat-aio", words
    command: click.Command = main
    while isinstance(command, click.Group) and words:
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words
        command = found
        words.pop(0)
    flags = {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)}
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= flags, used - flags


@pytest.mark.parametrize("page", ["checklist", "kubernetes", "troubleshooting"])
def test_commands_of_the_pages_exist(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text()
    spans = re.findall(r"`(chat-aio [^`]+)`", text)
    spans += re.findall(r"^\$ .*?(chat-aio .*)$", text, re.MULTILINE)
    assert spans
    for span in spans:
        require_command(shlex.split(span))


def code_texts() -> str:
    """All strings of the package, one a line, without line breaks of their own."""
    found: list[str] = []
    for file in (ROOT / "chat_aio").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            match node:
                case ast.Constant(value=str(text)):
                    found.append(" ".join(text.split()))
                case ast.JoinedStr(values=parts):
                    texts = (part.value for part in parts if isinstance(part, ast.Constant))
                    found.append(" ".join(" ... ".join(map(str, texts)).split()))
    return "\n".join(found)


def test_quoted_texts_are_those_of_the_service() -> None:
    quoted = re.findall(r"^> (.*)$", TROUBLES, re.MULTILINE)
    assert len(quoted) > 15
    known = code_texts()
    for quote in quoted:
        parts = map(re.escape, quote.split("..."))
        assert re.search(r"[^\n]*?".join(parts), known), quote


def test_words_of_the_handbook_are_those_of_the_page() -> None:
    known = {*itertools.chain.from_iterable(shown(text) for text in texts_of("en").values())}
    # Bold words outside of the table's and paragraphs' own emphasis.
    bold = {*re.findall(r"\*\*([^*]+?)\*\*", HANDBOOK)} - {
        "as it was when it was\nreported",
        "Seen by users:",
    }
    assert len(bold) > 20
    assert {" ".join(text.split()) for text in bold} <= known
    for quote in re.findall(r'"([A-Z][^"]+)"', HANDBOOK):
        assert " ".join(quote.split()) in known


def shown(text: object) -> list[str]:
    """A text, or the forms of one with a number."""
    return [*map(str, text.values())] if isinstance(text, dict) else [str(text)]
