"""the moderation tools on the page: reports as they come, messages in their context, standings."""

import asyncio
import json

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.acting import act, choose, main_list, message
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.browser.test_moderation import MODERATOR, part
from tests.support.people import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="session")

DESK = "/moderation/tools"
UNTIL = "2026-01-31T09:30:00.000Z"


async def report(demo: Demo, reporter: str, target_type: str, target_id: str, why: str) -> None:
    given = {"targetType": target_type, "targetId": target_id, "reason": why}
    await demo.post(reporter, "/moderation/reports", **given)


def waiting(page: Page) -> Locator:
    """The count beside the link that leads to the moderators' screen."""
    return page.get_by_role("link", name="Moderation").locator(".badge")


async def context(page: Page, case: Locator) -> Locator:
    """The dialog about a case that is a message."""
    await case.get_by_role("button", name="Context").click()
    return page.get_by_role("dialog", name="A message in its context")


async def standing(page: Page, user_id: str, name: str, demo: Demo) -> Locator:
    """The dialog about somebody, who is reported for it."""
    await report(demo, "linus", "user", user_id, "Spams")
    await part(page, "Reports").get_by_role("button", name=f"Standing: {name}").click()
    return page.get_by_role("dialog", name=f"Standing of {name}")


async def test_reports_come_as_they_are_made_and_are_resolved_together(
    visit: Visit, demo: Demo
) -> None:
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    rude = await demo.write("dennis", group_id, "Rude words")
    moderator, elsewhere = await visit(MODERATOR, "moderation"), await visit(MODERATOR)
    await expect(part(moderator, "Reports")).to_contain_text("No reports.")
    await expect(waiting(elsewhere)).to_be_hidden()

    await report(demo, "linus", "message", rude["id"], "He is rude")
    case = part(moderator, "Reports").get_by_role("listitem")
    await expect(case).to_contain_text("1 report")
    await expect(waiting(elsewhere)).to_have_text("1 waiting")
    await case.get_by_label("Note").fill("Talked to him")
    await report(demo, "grace", "message", rude["id"], "Very rude")
    await expect(case).to_contain_text("2 reports")
    await expect(case).to_contain_text("Very rude")
    await expect(case.get_by_label("Note")).to_have_value("Talked to him")
    await report(demo, "margaret", "user", "dennis", "Always")
    await expect(case.locator(".person-name")).to_have_text(["Dennis", "A message by Dennis"])
    await expect(waiting(elsewhere)).to_have_text("2 waiting")
    await expect(waiting(elsewhere)).to_be_visible()
    await elsewhere.reload()
    await expect(waiting(elsewhere)).to_have_text("2 waiting")

    await case.last.get_by_role("button", name="Resolve").click()
    await expect(case).to_have_count(1)
    await expect(waiting(elsewhere)).to_have_text("1 waiting")
    found = await demo.get(MODERATOR, f"{DESK}/reports", targetType="message")
    decided = {
        (report_row["status"], report_row["moderatorNote"]) for report_row in found["reports"]
    }
    assert (len(found["reports"]), decided) == (2, {("resolved", "Talked to him")})


async def test_what_is_not_on_the_screen_yet_is_not_resolved(visit: Visit, demo: Demo) -> None:
    await report(demo, "linus", "user", "dennis", "Spams")
    moderator = await visit(MODERATOR, "moderation")
    case = part(moderator, "Reports").get_by_role("listitem")
    await expect(case).to_contain_text("1 report")
    is_released = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_released.wait()
        await route.continue_()

    await moderator.route("**/moderation/tools/report-groups?*", hold)
    await report(demo, "grace", "user", "dennis", "Spams me as well")
    async with moderator.expect_response("**/report-groups/resolve?*"):
        await case.get_by_role("button", name="Resolve").click()
    is_released.set()
    await expect(case).to_contain_text("Spams me as well")
    await expect(case).to_contain_text("1 report")
    found = await demo.get(MODERATOR, f"{DESK}/reports", status="resolved")
    assert [report_row["reason"] for report_row in found["reports"]] == ["Spams"]


async def test_a_message_is_removed_and_restored_for_everybody(visit: Visit, demo: Demo) -> None:
    group_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", group_id, "It builds.")
    rude = await demo.write("dennis", group_id, "You built it <b>badly</b>")
    await demo.send("linus", group_id, "Did I?")
    await report(demo, "linus", "message", rude["id"], "Rude")
    dennis, moderator = await visit("dennis", group_id), await visit(MODERATOR, "moderation")
    case = part(moderator, "Reports").get_by_role("listitem")
    dialog = await context(moderator, case)
    around = dialog.get_by_role("group", name="Around it")
    said = around.locator(".case-reason")
    await expect(said).to_have_text(["It builds.", "You built it <b>badly</b>", "Did I?"])
    await expect(around.locator("[aria-current]")).to_contain_text("badly")
    await expect(dialog.get_by_role("button", name="Restore")).to_be_hidden()

    await dialog.get_by_label("Reason").fill("House rules")
    await dialog.get_by_role("button", name="Remove").click()
    await expect(said.nth(1)).to_have_text("This message was deleted")
    await expect(dialog.get_by_role("button", name="Restore")).to_be_focused()
    await expect(message(main_list(dennis), "This message was deleted")).to_be_visible()
    await expect(dialog.get_by_role("button", name="Remove")).to_be_hidden()

    await dialog.get_by_role("button", name="Restore").click()
    await expect(said.nth(1)).to_have_text("You built it <b>badly</b>")
    await expect(dialog.get_by_role("button", name="Remove")).to_be_focused()
    await expect(message(main_list(dennis), "<b>badly</b>")).to_be_visible()
    await expect(message(main_list(dennis), "This message was deleted")).to_have_count(0)


async def test_what_a_message_was_is_shown_with_it(visit: Visit, demo: Demo) -> None:
    direct_id = await demo.direct("linus", "dennis")
    written = await demo.write("dennis", direct_id, "Rude words")
    await demo.patch("dennis", f"/messages/{written['id']}", body="Kind words")
    await report(demo, "linus", "message", written["id"], "Was rude before")
    moderator = await visit(MODERATOR, "moderation")
    dialog = await context(moderator, part(moderator, "Reports").get_by_role("listitem"))
    earlier = dialog.get_by_role("group", name="What it was")
    await expect(earlier).to_be_hidden()
    await dialog.get_by_role("button", name="What it was").click()
    await expect(earlier.locator(".case-reason")).to_have_text(["Rude words"])
    await expect(earlier).to_contain_text("Edited by Dennis")
    await dialog.get_by_role("button", name="Remove").click()
    await expect(earlier.locator(".case-reason")).to_have_text(["Kind words", "Rude words"])
    await expect(earlier).to_contain_text("Removed by Ada")


async def test_a_moderator_sees_in_place_what_a_message_was(visit: Visit, demo: Demo) -> None:
    """Nobody else does, and nothing is offered where there was nothing."""
    group_id = await demo.group("linus", "dennis", MODERATOR, name="Kernel")
    await demo.send("linus", group_id, "Never changed")
    written = await demo.write("dennis", group_id, "Rude words")
    for body in ("Kinder words", "Kind words"):
        await demo.patch("dennis", f"/messages/{written['id']}", body=body)
    linus, moderator = await visit("linus", group_id), await visit(MODERATOR, group_id)
    await choose(message(main_list(moderator), "Kind words"), "Versions")
    dialog = moderator.get_by_role("dialog", name="Earlier versions")
    await expect(dialog.locator(".case-reason")).to_have_text(["Kinder words", "Rude words"])
    await expect(dialog).to_contain_text("Edited by Dennis")
    await moderator.keyboard.press("Escape")
    for page, body in ((moderator, "Never changed"), (linus, "Kind words")):
        await act(message(main_list(page), body), "More actions")
        await expect(page.get_by_role("menuitem", name="Report")).to_be_visible()
        await expect(page.get_by_role("menuitem", name="Versions")).to_have_count(0)
        await page.keyboard.press("Escape")

    await demo.delete("dennis", f"/messages/{written['id']}")
    gone = [message(main_list(page), "This message was deleted") for page in (linus, moderator)]
    await expect(gone[0].get_by_role("toolbar")).to_be_hidden()
    await act(gone[1], "More actions")
    await expect(moderator.get_by_role("menuitem")).to_have_text(["Versions"])
    await moderator.get_by_role("menuitem", name="Versions").click()
    said = ["Kind words", "Kinder words", "Rude words"]
    await expect(dialog.locator(".case-reason")).to_have_text(said)
    await expect(dialog).to_contain_text("Deleted by Dennis")
    await expect(gone[1].get_by_role("button", name="Reply", exact=True)).to_be_hidden()


async def test_versions_that_do_not_load_say_so(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("Failed to load resource")
    group_id = await demo.group("linus", "dennis", MODERATOR, name="Kernel")
    written = await demo.write("dennis", group_id, "Rude words")
    await demo.patch("dennis", f"/messages/{written['id']}", body="Kind words")
    moderator = await visit(MODERATOR, group_id)
    await moderator.route("**/versions?*", lambda route: route.abort())
    await choose(message(main_list(moderator), "Kind words"), "Versions")
    alert = moderator.get_by_role("dialog", name="Earlier versions").get_by_role("alert")
    await expect(alert.first).to_have_text("The chat is out of reach.")


async def test_what_the_sender_has_deleted_is_not_restored(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("409")
    direct_id = await demo.direct("linus", "dennis")
    written = await demo.write("dennis", direct_id, "Rude words")
    await report(demo, "linus", "message", written["id"], "Rude")
    await demo.delete("dennis", f"/messages/{written['id']}")
    moderator = await visit(MODERATOR, "moderation")
    dialog = await context(moderator, part(moderator, "Reports").get_by_role("listitem"))
    await dialog.get_by_role("button", name="Restore").click()
    problem = dialog.get_by_role("group", name="Around it").get_by_role("alert")
    await expect(problem).not_to_be_empty()
    await expect(dialog).to_be_visible()


async def test_a_standing_leads_to_a_ban(visit: Visit, demo: Demo) -> None:
    await demo.group("linus", "dennis", name="Kernel")
    await report(demo, "dennis", "user", "grace", "Talks")
    moderator = await visit(MODERATOR, "moderation")
    dialog = await standing(moderator, "dennis", "Dennis", demo)
    await expect(dialog).to_contain_text("1 received, 1 waiting · 1 made")
    await expect(dialog.get_by_role("group", name="Conversations")).to_contain_text("Kernel")
    bans = dialog.get_by_role("group", name="Bans")
    await expect(bans).to_contain_text("Never banned.")
    await bans.get_by_role("button", name="Ban").click()
    banning = moderator.get_by_role("dialog", name="Ban somebody")
    await expect(banning.get_by_label("Who")).to_have_value("dennis")
    await banning.get_by_label("Reason").fill("Spam")
    await banning.get_by_role("button", name="Ban").click()
    await expect(bans.get_by_role("listitem")).to_contain_text("In force · Banned by Ada")
    await expect(bans.get_by_role("button", name="Ban")).to_be_hidden()
    await dialog.get_by_role("button", name="Close").click()
    await expect(part(moderator, "Bans").get_by_role("listitem")).to_contain_text("Spam")


async def test_all_messages_of_somebody_are_counted_then_removed(visit: Visit, demo: Demo) -> None:
    group_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("dennis", group_id, "spam", "more spam")
    await demo.send("dennis", await demo.direct("dennis", "linus"), "direct spam")
    await demo.send("linus", group_id, "Stop it")
    linus, moderator = await visit("linus", group_id), await visit(MODERATOR, "moderation")
    dialog = await standing(moderator, "dennis", "Dennis", demo)
    messages = dialog.get_by_role("group", name="Messages")
    await messages.get_by_role("button", name="Remove all messages of this user").click()
    await expect(messages).to_contain_text("3 messages in all conversations.")
    assert await demo.bodies("linus", group_id) == ["spam", "more spam", "Stop it"]
    # What is written after the count stays.
    await demo.send("dennis", group_id, "sorry")
    await messages.get_by_role("button", name="Remove 3 messages").click()
    await expect(messages).to_contain_text("Done: 3 messages removed.")
    assert await demo.bodies("linus", group_id) == ["", "", "Stop it", "sorry"]
    await expect(message(main_list(linus), "This message was deleted")).to_have_count(2)


async def test_some_messages_of_somebody_are_counted_then_removed(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    group_id = await demo.group("linus", "dennis", name="Kernel")
    direct_id = await demo.direct("dennis", "linus")
    await demo.send("dennis", group_id, "spam here", "a patch")
    await demo.send("dennis", direct_id, "spam there")
    moderator = await visit(MODERATOR, "moderation")
    dialog = await standing(moderator, "dennis", "Dennis", demo)
    messages = dialog.get_by_role("group", name="Messages")
    await messages.get_by_text("Only some of them").click()
    conversation = messages.get_by_label("Conversation")
    offered = messages.locator(f"option[value='{group_id}']")
    assert await offered.text_content() == "Kernel"
    await conversation.fill(group_id)
    await messages.get_by_label("With these words").fill("spam")
    await messages.get_by_label("Since").fill("2020-01-31T09:30")
    count = messages.get_by_role("button", name="Remove these messages of this user")
    async with moderator.expect_request("**/moderation/tools/removals?*") as asked:
        await count.click()
    given = json.loads((await asked.value).post_data or "{}")
    assert (given["conversationId"], given["contains"]) == (group_id, "spam")
    assert given["since"].startswith("2020-01-3")
    assert given["since"].endswith(":30:00.000Z")
    await expect(messages).to_contain_text("1 message that fits.")

    # What was counted is not what is meant any more.
    await messages.get_by_label("Until").fill("2020-02-01T09:30")
    await expect(messages.get_by_role("button", name="Remove 1 message")).to_be_hidden()
    await count.click()
    await expect(messages).to_contain_text("There are no messages.")
    await messages.get_by_label("Until").fill("")
    await count.click()
    await messages.get_by_role("button", name="Remove 1 message").click()
    await expect(messages).to_contain_text("Done: 1 message removed.")
    assert await demo.bodies("linus", group_id) == ["", "a patch"]
    assert await demo.bodies("linus", direct_id) == ["spam there"]

    complaints.excuse("400")
    await messages.get_by_label("With these words").fill("?!")
    await count.click()
    await expect(messages.get_by_role("alert")).not_to_be_empty()
    await dialog.get_by_role("button", name="Close").click()
    await moderator.get_by_role("button", name="Standing: Dennis").click()
    await expect(messages.get_by_role("button", name="Remove all messages")).to_be_visible()
    await expect(conversation).to_be_hidden()


class Portions:
    """Answers as the service does with one message in each portion, of which the second one that
    removes is held."""

    def __init__(self) -> None:
        self.asked: list[tuple[bool, str | None]] = []
        self.ends: set[str | None] = set()
        self._held: asyncio.Queue[Route] = asyncio.Queue()

    async def ask(self, route: Route) -> None:
        given = json.loads(route.request.post_data or "{}")
        self.asked.append((given["dryRun"], given["cursor"]))
        if not given["dryRun"]:
            self.ends.add(given.get("until"))
        if self.asked.count((False, "2")) == 1 and self.asked[-1] == (False, "2"):
            self._held.put_nowait(route)
        else:
            await self._answer(route)

    async def release(self) -> None:
        # The page shows how far it is before its request is here.
        await self._answer(await asyncio.wait_for(self._held.get(), PATIENCE))

    async def _answer(self, route: Route) -> None:
        given = json.loads(route.request.post_data or "{}")
        place = int(given["cursor"] or 1)
        following = str(place + 1) if place < 3 else None
        told = {"messages": 1, "dryRun": given["dryRun"], "until": UNTIL, "nextCursor": following}
        await route.fulfill(json=told)


async def test_a_removal_can_be_stopped_and_goes_on(visit: Visit, demo: Demo) -> None:
    moderator = await visit(MODERATOR, "moderation")
    portions = Portions()
    await moderator.route("**/moderation/tools/removals?*", portions.ask)
    dialog = await standing(moderator, "dennis", "Dennis", demo)
    messages = dialog.get_by_role("group", name="Messages")
    await messages.get_by_role("button", name="Remove all messages of this user").click()
    await messages.get_by_role("button", name="Remove 3 messages").click()
    await expect(messages).to_contain_text("Removing… 1 of 3")
    bar = messages.get_by_role("progressbar", name="Messages removed")
    assert await bar.evaluate("node => [node.value, node.max]") == [1, 3]
    await messages.get_by_role("button", name="Stop").click()
    await portions.release()
    await expect(messages).to_contain_text("Stopped: 2 of 3 removed.")
    await messages.get_by_role("button", name="Go on").click()
    await expect(messages).to_contain_text("Done: 3 messages removed.")
    assert portions.asked == [
        *((True, None), (True, "2"), (True, "3")),
        *((False, None), (False, "2"), (False, "3")),
    ]
    assert portions.ends == {UNTIL}


async def test_a_removal_ends_with_its_dialog(visit: Visit, demo: Demo) -> None:
    """What is going on is before the moderator's eyes, or it does not go on."""
    moderator = await visit(MODERATOR, "moderation")
    portions = Portions()
    await moderator.route("**/moderation/tools/removals?*", portions.ask)
    dialog = await standing(moderator, "dennis", "Dennis", demo)
    await dialog.get_by_role("button", name="Remove all messages of this user").click()
    await dialog.get_by_role("button", name="Remove 3 messages").click()
    await expect(dialog).to_contain_text("Removing… 1 of 3")
    await moderator.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    async with moderator.expect_response("**/moderation/tools/removals?*"):
        await portions.release()
    await report(demo, "linus", "user", "grace", "Spams")
    await moderator.get_by_role("button", name="Standing: Grace").click()
    dialog = moderator.get_by_role("dialog", name="Standing of Grace")
    await dialog.get_by_role("button", name="Remove all messages of this user").click()
    await expect(dialog).to_contain_text("3 messages in all conversations.")
    assert (False, "3") not in portions.asked


async def test_of_two_cases_the_one_that_was_opened_last_is_shown(visit: Visit, demo: Demo) -> None:
    slow = await demo.write("grace", await demo.direct("linus", "grace"), "slow")
    direct_id = await demo.direct("linus", "dennis")
    quick = await demo.write("dennis", direct_id, "quick")
    for sent in (slow, quick):
        await report(demo, "linus", "message", sent["id"], sent["body"])
    moderator = await visit(MODERATOR, "moderation")
    is_released = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_released.wait()
        await route.continue_()

    url = f"**/moderation/tools/messages/{slow['id']}?*"
    await moderator.route(url, hold)
    case = part(moderator, "Reports").get_by_role("listitem")
    await context(moderator, case.last)
    await moderator.keyboard.press("Escape")
    dialog = await context(moderator, case.first)
    meant = dialog.locator("[aria-current]")
    await expect(meant).to_contain_text("quick")
    async with moderator.expect_response(url) as answered:
        is_released.set()
    await (await answered.value).finished()
    await moderator.evaluate("() => new Promise((done) => setTimeout(done))")
    await expect(dialog.get_by_role("button", name="Standing of Dennis")).to_be_visible()
    await dialog.get_by_role("button", name="Remove").click()
    await expect(meant).to_contain_text("This message was deleted")
    assert await demo.bodies("linus", direct_id) == [""]


async def test_a_list_that_is_refreshed_is_as_long_as_before(empty: Page) -> None:
    """What is shown beyond the first page does not go away when a report comes."""
    script = """async () => {
        const { Paged } = await import("/browser/paged.js");
        const all = Array.from({ length: 300 }, (_, index) => index);
        const load = async ({ limit, cursor }) => {
          const from = cursor ?? 0;
          return { items: all.slice(from, from + limit), nextCursor: from + limit };
        };
        const paged = new Paged({ load, keyOf: (item) => item, changed() {} });
        const lengths = [];
        for (const act of ["refresh", "more", "refresh", "reload"]) {
          await paged[act]();
          lengths.push([paged.items.length, paged.nextCursor]);
        }
        return lengths;
    }"""
    assert await empty.evaluate(script) == [[20, 20], [40, 40], [40, 40], [20, 20]]
