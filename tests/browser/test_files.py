"""chat.js and files, in a real browser: up with their progress, and down by who may."""

from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEND = """async (conversationId) => {
  const { Chat, ChatError } = await import("/browser/chat.js");
  const chat = new Chat("/api/chat", { query: { as: "ada" } });
  const canvas = Object.assign(document.createElement("canvas"), { width: 600, height: 300 });
  canvas.getContext("2d").fillRect(0, 0, 600, 300);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const told = [];
  const onProgress = (sent) => told.push(sent);
  const image = new File([blob], "a naïve \\"name\\".png", { type: "image/png" });
  const shown = await chat.attachments.upload(conversationId, image, { onProgress });
  const text = await chat.attachments.upload(conversationId, new Blob(["some text"]));
  const empty = await chat.attachments.upload(conversationId, new Blob([]), { onProgress })
    .catch((error) => [error instanceof ChatError, error.status, error.code]);
  const attachmentIds = [shown.id, text.id];
  const message = await chat.sendMessage(conversationId, { body: "Look!", attachmentIds });
  return { shown, text, empty, message, last: told.at(-1), size: blob.size };
}"""

STOP = """async (conversationId) => {
  const { Chat } = await import("/browser/chat.js");
  const told = [];
  const onError = (error) => told.push(error);
  const chat = new Chat("/api/chat", { query: { as: "ada" }, onError });
  const stopped = async (more, reason) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const file = new Blob(["x".repeat(1_000_000)]);
    const sent = chat.attachments.upload(conversationId, file, { ...more, signal });
    const failed = sent.catch((error) => [error === signal.reason, error.name]);
    stopping.abort(reason);
    const late = chat.attachments.upload(conversationId, file, { ...more, signal });
    return [await failed, await late.catch((error) => error === signal.reason)];
  };
  const onProgress = () => {};
  const own = new TypeError("stopped");
  const shown = { onProgress };
  const all = [await stopped({}), await stopped(shown), await stopped(shown, own)];
  return { all, told: told.length };
}"""

GET = """async ([userId, image, text]) => {
  const { Chat } = await import("/browser/chat.js");
  const chat = new Chat("/api/chat", { query: { as: userId } });
  const element = new Image();
  element.src = await chat.attachments.url(image);
  await element.decode();
  const small = await createImageBitmap(await chat.attachments.getThumbnail(image));
  const refused = await chat.attachments.getThumbnail(text).catch(({ code }) => code);
  return {
    image: [element.naturalWidth, element.naturalHeight],
    small: [small.width, small.height],
    text: await (await chat.attachments.get(text)).text(),
    refused,
  };
}"""


async def test_files_cross(visit: Visit, demo: Demo, complaints: Complaints) -> None:
    conversation_id = await demo.direct("ada", "linus")
    ada, linus = await visit("ada"), await visit("linus")
    complaints.excuse("Failed to load resource")
    sent: Any = await ada.evaluate(SEND, conversation_id)
    image, text = sent["message"]["attachments"]
    assert (image, text) == (sent["shown"], sent["text"])
    assert (image["name"], image["contentType"]) == ("a naïve _name_.png", "image/png")
    assert (image["width"], image["height"], image["size"]) == (600, 300, sent["size"])
    assert (text["name"], text["contentType"]) == ("file", "text/plain")
    assert sent["empty"] == [True, 400, "INVALID_INPUT"]
    assert sent["last"] == 1
    got: Any = await linus.evaluate(GET, ["linus", image["id"], text["id"]])
    assert got == {
        "image": [600, 300],
        "small": [320, 160],
        "text": "some text",
        "refused": "ATTACHMENT_NOT_FOUND",
    }


async def test_an_upload_that_is_stopped_says_so(visit: Visit, demo: Demo) -> None:
    """With the signal's own reason: it is no failure of the service, which onError is told of."""
    conversation_id = await demo.direct("ada", "linus")
    ada = await visit("ada")
    found: Any = await ada.evaluate(STOP, conversation_id)
    aborted = [[True, "AbortError"], True]
    assert found == {"all": [aborted, aborted, [[True, "TypeError"], True]], "told": 0}
