"""Every view of the page can be used by everybody: with a screen reader, keys, a finger, and in
another language."""

from typing import Any

import pytest
from playwright.async_api import FilePayload, Locator, Page, expect

from chat_aio.demo.people import PEOPLE
from tests.browser.acting import act, become, hurry, main_list, message, panel
from tests.browser.conftest import Visit
from tests.browser.looking import Looking, LookingForWords
from tests.browser.serving import Complaints, Demo
from tests.browser.speaking import ENGLISH, Foreign, Language
from tests.browser.test_gallery import picture
from tests.browser.test_held import hold
from tests.browser.test_layout import PHONE
from tests.browser.test_sending_files import png
from tests.browser.test_talking import badge_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

DESKTOP: dict[str, Any] = {}
READERS = pytest.mark.parametrize(
    ("size", "language"),
    [
        pytest.param(PHONE, Foreign(), id="phone-foreign"),
        pytest.param(DESKTOP, ENGLISH, id="desktop-English", marks=pytest.mark.long),
        pytest.param(PHONE, ENGLISH, id="phone-English", marks=pytest.mark.long),
        pytest.param(DESKTOP, Foreign(), id="desktop-foreign", marks=pytest.mark.long),
    ],
)


class Tour:
    """One person's way through the page, and whoever looks at each view of it."""

    def __init__(self, visit: Visit, demo: Demo, size: dict[str, Any], language: Language) -> None:
        self.demo = demo
        self.is_phone = size is PHONE
        if isinstance(language, Foreign):
            self.looking: Looking = LookingForWords(KNOWN, is_phone=self.is_phone)
        else:
            self.looking = Looking(is_phone=self.is_phone)
        self.say = language.say
        self._visit = visit
        self._options = {**size, "reduced_motion": "reduce", "language": language}

    async def visit(self, user_id: str, place: str = "") -> Page:
        return await self._visit(user_id, place, **self._options)

    def log(self, page: Page) -> Locator:
        return page.get_by_role("log", name=self.say("timeline.label"), exact=True)

    def panel(self, page: Page, title: str) -> Locator:
        return panel(page, self.say(title))

    async def press(self, row: Locator, name: str) -> None:
        """Press one of a message's buttons, which come when it is tapped, or pointed at."""
        if self.is_phone:
            await row.tap()
            await row.get_by_role("button", name=name, exact=True).click()
        else:
            await act(row, name)

    async def dialog(self, page: Page, name: str) -> None:
        """Look at the dialog that is open, and close it."""
        await expect(page.get_by_role("dialog", name=name)).to_be_visible()
        await self.looking.at(page, f"dialog {name}")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.fixture
def tour(visit: Visit, demo: Demo, size: dict[str, Any], language: Language) -> Tour:
    return Tour(visit, demo, size, language)


KNOWN = (
    *(person.name for person in PEOPLE),
    *("Engine room", "Welcome to the engine room!", "Kernel"),
    "Found a moth in the relay. Taped it into the log book.",
    "Then let's write the recovery path before we need it.",
    "Do you have a minute for the compiler?",
    *(
        "Does it build?",
        "It does.",
        "On my machine, too.",
        "have a look?",
        "Looked,",
        "Does it",
        "build",
    ),
    *("moth.png", "with"),
    *("Let me in again?", "Are you there?", "Something unkind", "unkind", "a test", "Free money"),
    "This looks like advertising. A moderator looks.",
)
"""What people have written here, and their names; what the demo's filter says."""


async def lively(demo: Demo) -> tuple[str, str]:
    """A group in which there is one of everything; its id, and a thread's."""
    group_id = await demo.group("linus", "dennis", "grace", "margaret", name="Kernel")
    root = await demo.write("dennis", group_id, "Does it build?")
    for sender, body in (("grace", "It does."), ("linus", "On my machine, too.")):
        await demo.write(sender, group_id, body, threadRootMessageId=root["id"])
    asked = await demo.write(
        "grace", group_id, "@Linus have a look?", mentions=["linus"], replyToMessageId=root["id"]
    )
    own = await demo.write("linus", group_id, "Looking, @Grace", mentions=["grace"])
    for sender in ("linus", "dennis"):
        await demo.post(sender, f"/messages/{asked['id']}/reactions", emoji="👀")
    await demo.patch("linus", f"/messages/{own['id']}", body="Looked, @Grace")
    gone = await demo.write("margaret", group_id, "Nevermind")
    await demo.delete("margaret", f"/messages/{gone['id']}")
    await demo.post("grace", f"/messages/{own['id']}/forward", conversationId=group_id)
    return group_id, root["id"]


@READERS
async def test_the_list_and_what_leads_from_it(tour: Tour) -> None:
    say = tour.say
    welcome = await tour.visit("")
    await expect(welcome.locator("#welcome")).to_be_visible()
    await tour.looking.at(welcome, "who one is")
    await lively(tour.demo)
    direct_id = await tour.demo.direct("linus", "dennis")
    await tour.demo.send("dennis", direct_id, "Are you there?")
    await tour.visit("dennis")
    linus = await tour.visit("linus")
    await expect(linus.locator("#conversations .dot:visible")).to_have_count(1)
    await tour.looking.at(linus, "the list")
    for name in (say("direct.new"), say("group.new")):
        await linus.get_by_role("button", name=name).click()
        await tour.dialog(linus, name)
    search = linus.get_by_role("searchbox", name=say("search.label"))
    await search.fill("build")
    await expect(linus.locator("mark")).to_have_text("build")
    await tour.looking.at(linus, "what was found")
    await linus.get_by_role("button", name=say("search.close")).click()
    await search.fill("nonsense")
    await expect(linus.get_by_text(say("search.nothing"))).to_be_visible()
    await tour.looking.at(linus, "nothing found")
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


@READERS
async def test_a_conversation_and_its_panels(tour: Tour) -> None:
    say = tour.say
    group_id, root_id = await lively(tour.demo)
    linus = await tour.visit("linus", group_id)
    log = tour.log(linus)
    await expect(log.locator(".message")).to_have_count(5)
    await tour.looking.at(linus, "a conversation")
    await linus.get_by_role("button", name=say("search.here")).click()
    await expect(linus.get_by_role("searchbox")).to_be_focused()
    await tour.looking.at(linus, "a search begun from there")
    await linus.get_by_role("button", name=say("search.close")).click()
    row = message(log, "have a look?")
    await tour.press(row, say("message.react"))
    await tour.dialog(linus, say("message.react"))
    for item, name in (
        (say("message.forward"), say("forward.title")),
        (say("message.report"), say("report.message")),
    ):
        await tour.press(row, say("message.more"))
        await linus.get_by_role("menuitem", name=item).click()
        await tour.dialog(linus, name)
    await tour.press(message(log, "Looked,").first, say("message.more"))
    await tour.looking.at(linus, "a message's menu")
    await linus.get_by_role("menuitem", name=say("message.delete")).click()
    await tour.dialog(linus, say("delete.title"))
    await tour.press(row, say("message.reply"))
    await linus.get_by_label(say("composer.message"), exact=True).press_sequentially("@")
    people = linus.get_by_role("listbox", name=say("composer.people"))
    await expect(people.get_by_role("option")).to_have_count(3)
    await tour.looking.at(linus, "whom to mention")
    await linus.goto(f"{linus.url}/{root_id}")
    await expect(tour.panel(linus, "thread.title").locator(".message")).to_have_count(3)
    await tour.looking.at(linus, "a thread")
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


@READERS
async def test_files_and_what_was_and_who_has_read(tour: Tour, complaints: Complaints) -> None:
    complaints.excuse("429")
    demo, say = tour.demo, tour.say
    group_id = await demo.group("linus", "dennis", "ada", name="Kernel")
    await picture(demo, group_id, "moth.png", "moth.png")
    await demo.patch("linus", f"/conversations/{group_id}", slowModeSeconds=3_600)
    asked = await demo.write("ada", group_id, "Does it build?")
    await demo.patch("ada", f"/messages/{asked['id']}", body="It does.")
    ada = await tour.visit("ada", group_id)
    form = ada.locator("#composer")
    files = [FilePayload(name="moth.png", mimeType="image/png", buffer=png(6, 3))]
    await form.locator("input[type=file]").set_input_files(files)
    await expect(form.locator("[data-state=ready] img")).to_be_visible()
    await tour.looking.at(ada, "a file that waits")
    await form.get_by_label(say("composer.message"), exact=True).fill("It does.")
    await form.get_by_label(say("composer.message"), exact=True).press("Enter")
    await expect(form.get_by_role("timer")).not_to_be_empty()
    await tour.looking.at(ada, "slow mode")
    await tour.log(ada).locator(".picture").first.click()
    await expect(ada.get_by_text(say("gallery.position", index=1, all=2))).to_be_visible()
    await tour.dialog(ada, "moth.png")
    for item, name in (("readers", "readers.title"), ("versions", "versions.title")):
        await tour.press(message(tour.log(ada), "It does."), say("message.more"))
        await ada.get_by_role("menuitem", name=say(f"message.{item}")).click()
        await expect(ada.get_by_role("dialog").locator("li:visible")).not_to_have_count(0)
        await tour.dialog(ada, say(name))
    await demo.patch("linus", f"/conversations/{group_id}", frozen=True)
    await expect(form.get_by_role("status")).to_have_text(say("group.frozenAsk", names="Linus"))
    await tour.looking.at(ada, "a frozen group")
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


@READERS
async def test_details_and_ways_in(tour: Tour, complaints: Complaints) -> None:
    complaints.excuse("404")
    demo, say = tour.demo, tour.say
    group_id, _ = await lively(demo)
    await demo.patch("linus", f"/conversations/{group_id}", visibility="public")
    await demo.delete("linus", f"/conversations/{group_id}/participants", userId="margaret")
    invite = await demo.post("linus", f"/conversations/{group_id}/invites", requiresApproval=True)
    code = invite["invite"]["code"]
    await demo.post("margaret", f"/invites/{code}/accept", message="Let me in again?")
    linus = await tour.visit("linus", f"{group_id}/details")
    panel = tour.panel(linus, "details.title")
    await expect(panel.locator(".requests li")).to_have_count(1)
    await tour.looking.at(linus, "a group's details")
    for button, name in (
        (say("members.add"), say("members.add")),
        (say("invites.new"), say("invites.newTitle")),
        (say("members.leave"), say("members.leaveTitle", title="Kernel")),
        (say("report.group"), say("report.named", name="Kernel")),
    ):
        await panel.get_by_role("button", name=button).click()
        await tour.dialog(linus, name)
    await panel.get_by_role("button", name=say("members.actions", name="Dennis")).click()
    await tour.looking.at(linus, "a member's menu")
    ada = await tour.visit("ada", "channels")
    channels = ada.get_by_role("main", name=say("channels.title"))
    await expect(channels.locator("li")).to_have_count(1)
    await tour.looking.at(ada, "the channels")
    await ada.goto(ada.url.replace("channels", f"invite/{code}"))
    await expect(ada.get_by_role("button", name=say("join.ask"))).to_be_visible()
    await tour.looking.at(ada, "an invitation")
    await ada.goto(ada.url.replace(code, "spent"))
    await expect(ada.get_by_role("heading", name=say("invite.spent"))).to_be_visible()
    await tour.looking.at(ada, "an invitation that is spent")
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


@READERS
async def test_moderation_and_what_is_left_to_whom_it_meets(
    tour: Tour, complaints: Complaints
) -> None:
    complaints.excuse("403")
    demo, say = tour.demo, tour.say
    direct_id = await demo.direct("linus", "dennis")
    said = await demo.write("dennis", direct_id, "Something unkind")
    reported = {"targetType": "message", "targetId": said["id"], "reason": "unkind"}
    await demo.post("linus", "/moderation/reports", **reported)
    await demo.post("linus", "/moderation/blocks", targetUserId="dennis")
    linus = await tour.visit("linus", direct_id)
    await expect(linus.locator("#blocked")).to_be_visible()
    await tour.looking.at(linus, "a blocked conversation")
    await linus.goto(f"{linus.url}/details")
    await expect(tour.panel(linus, "details.title")).to_be_visible()
    await tour.looking.at(linus, "somebody's details")
    margaret = await tour.visit("margaret")
    await hold(demo, "dennis", await demo.direct("dennis", "grace"), "Free money")
    # Her stream ends, and says why when it is tried again.
    await hurry(margaret)
    await demo.post("ada", "/moderation/bans", targetUserId="margaret", reason="a test")
    await expect(margaret.get_by_role("heading", name=say("banned.title"))).to_be_visible()
    await tour.looking.at(margaret, "banned")
    ada = await tour.visit("ada", "moderation")
    await expect(ada.locator(".cases li")).to_have_count(3)
    await tour.looking.at(ada, "moderation")
    await ada.get_by_role("button", name=say("reports.context")).click()
    await ada.get_by_role("button", name=say("context.before")).click()
    await expect(ada.get_by_text(say("context.noneOlder"))).to_be_visible()
    await tour.looking.at(ada, "a message in its context")
    standing = say("standing.titleOf", name="Dennis")
    await ada.get_by_role("button", name=standing).click()
    received = say("standing.reportsReceived", received=1, waiting=1)
    await expect(ada.get_by_text(received)).to_be_visible()
    await ada.get_by_text(say("narrowing.title")).click()
    await ada.get_by_role("button", name=say("removals.allOf")).click()
    remove = ada.get_by_role("button", name=say("removals.remove", count=1))
    await expect(remove).to_be_focused()
    await tour.looking.at(ada, "a standing")
    await ada.keyboard.press("Escape")
    await expect(ada.get_by_role("dialog", name=standing)).to_be_hidden()
    await tour.dialog(ada, say("context.title"))
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


@READERS
async def test_nothing_there_and_no_connection(tour: Tour, complaints: Complaints) -> None:
    complaints.excuse_network()
    demo, say = tour.demo, tour.say
    engine_room = (await demo.get("ada", "/conversations"))["conversations"][-1]["id"]
    await demo.delete("ada", f"/conversations/{engine_room}/participants", userId="linus")
    linus = await tour.visit("linus")
    await expect(linus.get_by_text(say("list.empty"))).to_be_visible()
    await tour.looking.at(linus, "no conversations")
    await linus.goto(f"{linus.url}/channels")
    channels = linus.get_by_role("main", name=say("channels.title"))
    await expect(channels).to_contain_text(say("channels.empty"))
    await tour.looking.at(linus, "no channels")
    direct_id = await demo.direct("linus", "dennis")
    await demo.patch("linus", f"/conversations/{direct_id}/view", archived=True, favourite=True)
    await linus.goto(linus.url.replace("channels", "archived"))
    await expect(linus.get_by_role("button", name=say("archive.end"))).to_be_visible()
    await tour.looking.at(linus, "archived conversations")
    await demo.patch("linus", f"/conversations/{direct_id}/view", archived=False)
    await linus.goto(linus.url.replace("archived", direct_id))
    beginning = say("timeline.beginningWith", title="Dennis")
    await expect(tour.log(linus)).to_contain_text(beginning)
    await tour.looking.at(linus, "an empty conversation")
    await hurry(linus)
    await demo.stop()
    await expect(linus.get_by_text(say("connection.lost"))).to_be_visible()
    await tour.looking.at(linus, "no connection")
    assert not tour.looking.faults, "\n".join(tour.looking.faults)


async def test_what_opens_over_a_message_gives_the_focus_back(visit: Visit, demo: Demo) -> None:
    group_id, _ = await lively(demo)
    linus = await visit("linus", group_id)
    log = main_list(linus)
    row = message(log, "have a look?")
    await row.focus()
    await linus.keyboard.press("ArrowUp")
    await linus.keyboard.press("ArrowDown")
    await expect(row).to_be_focused()
    more = row.get_by_role("button", name="More actions")
    for item, name in (("Forward", "Forward to"), ("Report", "Report this message")):
        await more.press("Enter")
        await linus.get_by_role("menuitem", name=item).press("Enter")
        dialog = linus.get_by_role("dialog", name=name)
        await expect(dialog).to_be_visible()
        assert await dialog.evaluate("node => node.contains(node.getRootNode().activeElement)")
        await linus.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        await expect(more).to_be_focused()
        await expect(more).to_be_visible()


async def test_old_rows_stay_quiet_if_they_are_shown_twice(empty: Page) -> None:
    """The page may be drawn twice in one frame, the second time with nothing new."""
    script = """
        const { Shell } = await import("/browser/view/shell.js");
        const { TimelineView } = await import("/browser/view/timeline.js");
        const { textsIn } = await import("/browser/texts.js");
        const shell = new Shell({ root: document.body, texts: await textsIn("en") });
        const timeline = { messages: [], newer: null, older: null, isReady: true, unread: {} };
        const rows = [{ kind: "happening", key: "1", state: { words: "Ann left" } }];
        const shown = { timeline, rows, drafts: [], unread: 0 };
        const tools = { shell, moved() {}, older() {}, newer() {} };
        const log = new TimelineView(shell, { name: "", label: "Messages" }, () => shown, tools);
        document.body.append(log.node);
        const region = document.querySelector("[role=log]");
        const heard = new Promise((resolve) => {
          const look = () => resolve(region.ariaLive);
          new MutationObserver(look).observe(region, { childList: true });
        });
        log.show();
        log.show();
        return heard;
    """
    assert await empty.evaluate(f"async () => {{ {script} }}") == "off"
    await expect(empty.get_by_role("log")).to_have_attribute("aria-live", "polite")


async def test_what_is_new_is_read_out_and_what_is_old_is_not(visit: Visit, demo: Demo) -> None:
    """Screen readers speak what changes in a live region; of a lost connection, too."""
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "old")
    linus = await visit("linus", direct_id)
    await expect(message(main_list(linus), "old")).to_be_visible()
    await hear(linus)
    await demo.send("dennis", direct_id, "new")
    await expect(message(main_list(linus), "new")).to_be_visible()
    await linus.get_by_role("link", name="Engine room").click()
    await expect(message(main_list(linus), "Welcome to the engine room!")).to_be_visible()
    spoken, *silent = await linus.evaluate("heard")
    assert spoken == ["polite", "new"]
    assert {live for live, _ in silent} == {"off"}
    region = linus.locator("#banner [role=status]")
    assert await region.evaluate("node => node.checkVisibility()")
    await expect(region).to_be_empty()


async def test_an_old_message_stays_quiet_when_the_unread_line_moves(
    visit: Visit, demo: Demo
) -> None:
    direct_id = await demo.direct("linus", "dennis")
    await demo.send("dennis", direct_id, "old")
    linus = await visit("linus", direct_id)
    rows = linus.locator("#timeline > :is(.unread-mark, .message)")
    await expect(rows).to_contain_text(["Mark as read", "old"])
    await expect(badge_of(linus, "Dennis")).to_be_hidden()
    await hear(linus)
    await become(linus, "hidden")
    await demo.send("dennis", direct_id, "new")
    await expect(rows).to_contain_text(["old", "Mark as read", "new"])
    assert await linus.evaluate("heard") == [["polite", "new"]]


async def hear(page: Page) -> None:
    """From now on `heard` contains the messages that are put into the log, and its aria-live."""
    await page.evaluate(
        """() => {
          globalThis.heard = [];
          const log = document.querySelector("chat-aio").shadowRoot.querySelector("#timeline");
          new MutationObserver((changes) => {
            const added = changes.flatMap((change) => [...change.addedNodes]);
            for (const row of added.filter((node) => node.matches(".message"))) {
              heard.push([log.ariaLive, row.querySelector(".body").textContent]);
            }
          }).observe(log, { childList: true });
        }"""
    )
    await expect(page.locator("#timeline")).to_have_attribute("aria-live", "polite")
