"""Ways into a group: a link, a request that an admin decides, the directory of channels."""

import re

import pytest
from playwright.async_api import Route, expect

from tests.browser.acting import details, main_list, write
from tests.browser.conftest import Visit
from tests.browser.looking import fits
from tests.browser.serving import Complaints, Demo
from tests.browser.test_layout import PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def one_by_one(route: Route) -> None:
    """Ask for pages of one: a demo has few people."""
    await route.continue_(url=route.request.url.replace("limit=20", "limit=1"))


async def test_a_link_lets_in_until_it_is_spent(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("410")
    complaints.excuse("404")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", conversation_id, "Among us")
    clipboard = {"permissions": ["clipboard-read", "clipboard-write"]}
    linus = await visit("linus", f"{conversation_id}/details", **clipboard)
    await details(linus).get_by_role("button", name="New link").click()
    await linus.get_by_label("It expires").select_option("After a day")
    await linus.get_by_label("How many can use it").select_option("One")
    await linus.get_by_role("button", name="Create link").click()
    row = details(linus).locator(".links li")
    await expect(row).to_contain_text("Used 0 of 1 · expires")
    await row.get_by_role("button", name="Copy").click()
    await expect(row.get_by_role("button", name="Copied")).to_be_visible()
    link = await linus.evaluate("navigator.clipboard.readText()")
    assert link == await row.get_by_label("Invite link").input_value()

    grace = await visit("")
    await grace.goto(link)
    await grace.get_by_role("link", name="Grace").click()
    await expect(grace.get_by_role("heading", name="Kernel")).to_be_visible()
    await expect(grace.get_by_text("Linus invites you · 2 people")).to_be_visible()
    await expect(grace.get_by_role("textbox", name="Note to the admins")).to_be_hidden()
    await grace.get_by_role("button", name="Join").click()
    await expect(main_list(grace)).to_contain_text("Among us")
    await expect(grace).to_have_url(re.compile(f"#grace/{conversation_id}$"))
    await expect(details(linus).get_by_role("heading", name="3 people")).to_be_visible()
    await expect(row).to_contain_text("Used 1 of 1")
    await expect(row).to_have_attribute("data-spent", "")

    place = link.split("#/")[1]
    margaret = await visit("margaret", place)
    await expect(
        margaret.get_by_role("heading", name="This invite link is no longer valid")
    ).to_be_visible()
    await expect(margaret.locator("#invite")).to_contain_text("Ask whoever gave it to you")
    await expect(margaret.get_by_role("button", name="Join")).to_be_hidden()
    dennis = await visit("dennis", place)
    await expect(main_list(dennis)).to_contain_text("Among us")

    await row.get_by_role("button", name="Revoke").click()
    await linus.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(details(linus)).to_contain_text("No links yet.")
    await margaret.reload()
    await expect(margaret.locator("#invite")).to_contain_text("This invite does not exist")


async def test_who_has_asked_is_let_in_by_an_admin(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("404")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    path = f"/conversations/{conversation_id}"
    made = await demo.post("linus", f"{path}/invites", requiresApproval=True)
    linus = await visit("linus", f"{conversation_id}/details")
    await expect(details(linus)).to_contain_text("Nobody is waiting.")
    await expect(details(linus)).to_contain_text("needs approval")
    grace = await visit("grace", f"invite/{made['invite']['code']}")
    await grace.get_by_role("textbox", name="Note to the admins").fill("I found a bug")
    await grace.get_by_role("button", name="Ask to join").click()
    await expect(grace.get_by_text("You have asked to be let in.")).to_be_visible()
    await expect(grace.get_by_role("button", name="Ask to join")).to_be_hidden()
    requests = details(linus).get_by_role("region", name="Requests")
    await expect(requests.locator(".request-note")).to_have_text("I found a bug")
    await demo.post("margaret", f"{path}/join-requests")
    await demo.post("ada", f"{path}/join-requests")
    await expect(requests.locator(".person-name")).to_have_text(["Ada", "Margaret", "Grace"])

    await linus.route("**/join-requests?*limit=20*", one_by_one)
    await details(linus).get_by_role("button", name="Refresh").click()
    await expect(requests.get_by_role("heading")).to_have_text("Requests (1+)")
    await requests.get_by_role("button", name="Load more").click()
    await expect(requests.get_by_role("listitem")).to_have_count(2)
    await requests.get_by_role("button", name="Load more").click()
    await expect(requests.get_by_role("heading")).to_have_text("Requests (3)")
    await expect(requests.locator(".person-name")).to_have_text(["Ada", "Margaret", "Grace"])
    await expect(requests.locator(".request-note").last).to_have_text("I found a bug")
    await linus.unroute_all()

    await requests.get_by_role("button", name="Deny Margaret").press("Enter")
    await expect(requests.locator(".person-name")).to_have_text(["Ada", "Grace"])
    await expect(requests.get_by_role("heading")).to_be_focused()
    await requests.get_by_role("button", name="Approve Grace").click()
    await expect(grace.get_by_label("Message", exact=True)).to_be_visible()
    await expect(grace).to_have_url(re.compile(f"#grace/{conversation_id}$"))
    await write(grace, "Here it is")
    await expect(main_list(linus)).to_contain_text("Here it is")
    await expect(requests.get_by_role("heading")).to_have_text("Requests (1)")

    # Another admin was quicker.
    gone = {"error": {"code": "JOIN_REQUEST_NOT_FOUND", "message": "There is no such request."}}
    await linus.route(
        "**/join-requests?as=linus", lambda route: route.fulfill(status=404, json=gone)
    )
    await requests.get_by_role("button", name="Approve Ada").click()
    await expect(requests.get_by_role("alert")).to_have_text("This request is no longer open.")
    await demo.patch("linus", f"{path}/join-requests", userId="ada", decision="deny")
    await expect(requests).to_contain_text("Nobody is waiting.")
    group = (await demo.get("linus", path))["conversation"]
    assert {participant["userId"] for participant in group["participants"]} == {
        "linus",
        "dennis",
        "grace",
    }


async def test_channels_are_found_joined_and_asked_for(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")

    async def publish(name: str, policy: str) -> str:
        body = {"name": name, "visibility": "public", "joinPolicy": policy}
        made = await demo.post("margaret", "/conversations/group", **body)
        return str(made["conversation"]["id"])

    gone_id = await publish("Gemini", "open")
    apollo_id = await publish("Apollo", "open")
    for number in range(18):
        await publish(f"Probe {number}", "open")
    await publish("Kernel", "approval")
    await demo.send("margaret", apollo_id, "The Eagle has landed")
    margaret = await visit("margaret", f"{apollo_id}/details")
    linus = await visit("linus")
    await linus.get_by_role("link", name="Channels").click()
    channels = linus.get_by_role("main", name="Channels")
    await expect(channels.get_by_role("listitem")).to_have_count(20)
    await channels.get_by_role("button", name="Load more").click()
    await expect(channels.get_by_role("listitem")).to_have_count(21)
    await expect(channels.get_by_role("button", name="Load more")).to_be_hidden()
    row = channels.get_by_role("listitem").filter(has_text="Apollo")
    await expect(row).to_contain_text("1 person · anybody can join")

    await demo.patch("margaret", f"/conversations/{apollo_id}", topic="To the Moon")
    search = channels.get_by_role("searchbox", name="Search channels")
    await search.fill("moon")
    await expect(channels.get_by_role("listitem")).to_have_count(1)
    await expect(row).to_contain_text("To the Moon")
    await search.fill("Mars")
    await expect(channels.get_by_role("status")).to_have_text(
        "No channel has this in its name or topic."
    )
    await search.fill("")
    await expect(channels.get_by_role("listitem")).to_have_count(20)
    await channels.get_by_role("button", name="Load more").click()

    await demo.patch("margaret", f"/conversations/{gone_id}", visibility="private")
    await channels.get_by_role("button", name="Join Gemini").click()
    await expect(channels.get_by_role("alert")).to_contain_text("public")
    await channels.get_by_role("button", name="Ask to join Kernel").click()
    dialog = linus.get_by_role("dialog", name="Ask to join Kernel")
    await dialog.get_by_label("Note to the admins").fill("May I?")
    await dialog.get_by_role("button", name="Ask to join").click()
    waiting = channels.get_by_role("listitem").filter(has_text="Kernel").get_by_text("Requested")
    await expect(waiting).to_be_visible()
    await channels.get_by_role("button", name="Join Apollo").click()
    await expect(main_list(linus)).to_contain_text("The Eagle has landed")
    await expect(details(margaret).get_by_role("heading", name="2 people")).to_be_visible()

    await linus.get_by_role("link", name="Channels").click()
    await expect(waiting).to_be_visible()
    await channels.get_by_role("link", name="Open Apollo").click()
    await expect(main_list(linus)).to_contain_text("The Eagle has landed")


async def test_an_answer_is_seen_by_who_has_asked(visit: Visit, demo: Demo) -> None:
    body = {"name": "Kernel", "visibility": "public", "joinPolicy": "approval"}
    group_id = (await demo.post("margaret", "/conversations/group", **body))["conversation"]["id"]
    path = f"/conversations/{group_id}"
    made = await demo.post("margaret", f"{path}/invites", requiresApproval=True)
    channels = (await visit("linus", "channels")).get_by_role("main", name="Channels")
    invite = await visit("linus", f"invite/{made['invite']['code']}")
    await expect(channels.get_by_role("button", name="Ask to join Kernel")).to_be_visible()

    await invite.get_by_role("button", name="Ask to join").click()
    await expect(channels.get_by_text("Requested")).to_be_visible()
    await demo.patch("margaret", f"{path}/join-requests", userId="linus", decision="deny")
    await expect(channels.get_by_role("button", name="Ask to join Kernel")).to_be_visible()
    await expect(invite.get_by_role("button", name="Ask to join")).to_be_visible()


async def test_on_a_phone_channels_and_links_are_screens(visit: Visit, demo: Demo) -> None:
    name = "Unbreakable" * 15
    body = {"name": name, "visibility": "public", "joinPolicy": "approval"}
    made = await demo.post("margaret", "/conversations/group", **body)
    path = f"/conversations/{made['conversation']['id']}/invites"
    code = (await demo.post("margaret", path, requiresApproval=True))["invite"]["code"]
    linus = await visit("linus", **PHONE)
    await linus.get_by_role("link", name="Channels").tap()
    channels = linus.get_by_role("main", name="Channels")
    ask = channels.get_by_role("button", name=f"Ask to join {name}")
    await expect(ask).to_be_in_viewport(ratio=1)
    assert await fits(linus)
    await channels.get_by_role("link", name="Back to the conversations").tap()
    await expect(linus.get_by_role("navigation", name="Conversations")).to_be_visible()

    await linus.evaluate("code => { location.hash = `linus/invite/${code}`; }", code)
    invite = linus.get_by_role("main", name=name)
    await expect(invite.get_by_role("button", name="Ask to join")).to_be_in_viewport(ratio=1)
    assert await fits(linus)
