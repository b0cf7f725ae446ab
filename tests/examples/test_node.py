"""The client and the store without a page: in Node.js, found by the names of the npm package."""

import asyncio
import json
from pathlib import Path
from typing import Any

from chat_aio.client import ChatClient
from chat_aio.web.browser_files import BROWSER
from tests.examples.test_hosts import login_of
from tests.support.node import NODE, needs_node
from tests.support.people import PATIENCE

SCRIPT = """
import { Chat, ChatError } from "chat-aio";
import { ChatStore } from "chat-aio/store";

const [origin, cookie, id] = process.argv.slice(2);
const headers = { Cookie: cookie };

const chat = new Chat(`${origin}/api/chat`, { headers, streamWith: "fetch" });
const refused = await chat.getConversation("nowhere").catch((error) => error);
const store = new ChatStore(chat, { userId: "ada" });
const bodies = () => store.timeline(id).messages.map(({ state, body }) => `${state}: ${body}`);
const until = async (isSo) => {
  while (!isSo()) {
    await new Promise((resolve) => {
      const unsubscribe = store.subscribe(() => resolve(unsubscribe()));
    });
  }
};
store.start();
await store.open(id);
await until(() => store.state().status === "live");
store.send(id, "from node");
await until(() => bodies().at(-1) === "sent: from node");
console.log(JSON.stringify([refused instanceof ChatError, refused.code]));
await until(() => bodies().length === 3);
console.log(JSON.stringify([bodies(), store.conversation(id).others[0].name]));
store.close();
"""


@needs_node
async def test_in_node(serve_example: Any, tmp_path: Path) -> None:
    origin = await serve_example("chat_in_pages")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "chat-aio").symlink_to(BROWSER)
    (tmp_path / "talk.mjs").write_text(SCRIPT)
    ada, grace = [await login_of(origin, name) for name in ("ada", "grace")]
    async with ChatClient(f"{origin}/api/chat", headers={"Cookie": grace}) as person:
        direct = await person.get_or_create_conversation("ada")
        await person.send_message(direct.id, "Hello!")
        assert NODE is not None
        talking = await asyncio.create_subprocess_exec(
            *(NODE, "talk.mjs", origin, ada, direct.id),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        assert talking.stdout is not None
        try:
            async with asyncio.timeout(60):
                refused = json.loads(await talking.stdout.readline())
                await person.send_message(direct.id, "and back")
                bodies, name = json.loads(await talking.stdout.readline())
                assert await talking.wait() == 0
        finally:
            if talking.returncode is None:
                talking.kill()
                await asyncio.wait_for(talking.wait(), PATIENCE)
    assert refused == [True, "CONVERSATION_NOT_FOUND"]
    assert bodies == ["sent: Hello!", "sent: from node", "sent: and back"]
    assert name == "Grace Hopper"
