"""Room controls: an admin freezes a group, slows it down and bans from it; others see what they can
do."""

import asyncio
import re

import pytest
from playwright.async_api import Locator, Page, Request, Route, expect

from tests.browser.acting import act, details, hurry, main_list, message, stop_time, thread, write
from tests.browser.conftest import Visit
from tests.browser.serving import Complaints, Demo
from tests.browser.test_groups import manage

pytestmark = pytest.mark.asyncio(loop_scope="session")


def box(page: Page) -> Locator:
    return page.get_by_label("Message", exact=True)


def note(page: Page) -> Locator:
    """Why one cannot write, above where one writes."""
    return page.locator("#composer .composer-note").get_by_role("status")


def countdown(page: Page) -> Locator:
    return page.locator("#composer").get_by_role("timer")


def count_sends(page: Page) -> list[str]:
    """What is sent from now on."""
    sent: list[str] = []

    def hear(request: Request) -> None:
        if request.method == "POST" and "/messages?" in request.url:
            sent.append(request.url)

    page.on("request", hear)
    return sent


async def set_to(page: Page, label: str, option: str) -> None:
    await details(page).get_by_label(label).select_option(option)
    await details(page).get_by_role("button", name="Save").click()
    await expect(details(page).get_by_text("Saved.")).to_be_visible()


async def test_a_group_is_frozen_and_thaws(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await expect(box(dennis)).to_be_editable()
    await set_to(linus, "Who can write", "true")
    await expect(box(dennis)).not_to_be_editable()
    await expect(box(dennis)).to_have_attribute("placeholder", "Only admins can write here.")
    await write(linus, "Quiet, please")
    row = message(main_list(dennis), "Quiet, please")
    await act(row, "Reply in thread")
    answer = dennis.get_by_label("Message in the thread", exact=True)
    await expect(answer).not_to_be_editable()
    await dennis.goto(dennis.url.split("#")[0] + f"#dennis/{conversation_id}/details")
    await expect(details(dennis)).to_contain_text("Only admins can write here.")
    await set_to(linus, "Who can write", "false")
    await expect(box(dennis)).to_be_editable()
    await write(dennis, "Thank you")
    await expect(message(main_list(linus), "Thank you")).to_be_visible()


async def test_who_cannot_write_is_told_whom_to_ask(visit: Visit, demo: Demo) -> None:
    """Of the admins three at most are named, as they are now."""
    others = ("dennis", "grace", "margaret", "ada")
    conversation_id = await demo.group("linus", *others, name="Kernel")
    here = f"/conversations/{conversation_id}"
    await demo.patch("linus", here, frozen=True)
    dennis, linus = await visit("dennis", conversation_id), await visit("linus", conversation_id)
    words = "Only admins can write here. If you have something to say, ask {}."
    await expect(note(dennis)).to_have_text(words.format("Linus"))
    await expect(note(linus)).to_be_empty()
    for user_id in others[1:]:
        await demo.patch("linus", f"{here}/participants", userId=user_id, role="admin")
    await expect(note(dennis)).to_have_text(re.compile(r"ask \w+, \w+,? or \w+\.$"))
    await demo.patch("linus", f"{here}/participants", userId="dennis", role="admin")
    await expect(note(dennis)).to_be_empty()
    await expect(box(dennis)).to_be_editable()


async def test_newcomers_see_what_is_said_after_they_joined(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    # The details take the focus when they are loaded.
    await expect(details(linus)).to_be_visible()
    await write(linus, "Between us")
    await set_to(linus, "What people see who join from now on", "since_join")
    dennis = await visit("dennis", f"{conversation_id}/details")
    await expect(message(main_list(dennis), "Between us")).to_be_visible()
    words = "Newcomers see only what is said after they joined."
    await expect(details(dennis)).to_contain_text(words)
    await demo.post("linus", f"/conversations/{conversation_id}/participants", userIds=["grace"])
    grace = await visit("grace", conversation_id)
    await write(linus, "Welcome")
    await expect(message(main_list(grace), "Welcome")).to_be_visible()
    await expect(main_list(grace)).not_to_contain_text("Between us")


async def test_slow_mode_says_how_long(visit: Visit, demo: Demo, complaints: Complaints) -> None:
    complaints.excuse("429")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    await set_to(linus, "How often members write", "300")
    words = "Slow mode: one message every 5 minutes."
    await expect(box(dennis)).to_have_attribute("placeholder", words)
    for body in ("One", "Two"):
        await write(dennis, body)
    await expect(message(main_list(linus), "One")).to_be_visible()
    await expect(countdown(dennis)).to_have_text(
        re.compile(r"^You can write again in [45]:\d\d\.$")
    )
    await expect(box(dennis)).to_have_value("Two")
    await expect(main_list(dennis)).not_to_contain_text("Two")
    await expect(main_list(linus)).not_to_contain_text("Two")
    await demo.patch("linus", f"/conversations/{conversation_id}", slowModeSeconds=7)
    interval = details(linus).get_by_label("How often members write")
    await expect(interval).to_have_value("7")


async def test_what_is_written_waits_until_slow_mode_lets_it_go(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("429")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.patch("linus", f"/conversations/{conversation_id}", slowModeSeconds=60)
    dennis = await visit("dennis", conversation_id)
    await write(dennis, "One")
    await expect(main_list(dennis).locator("[data-state=sent]")).to_have_count(1)
    sent = count_sends(dennis)
    await stop_time(dennis)
    await write(dennis, "Two")
    await expect(countdown(dennis)).to_have_text(re.compile(r"in (1:00|0:[1-5]\d)\.$"))
    await expect(note(dennis)).to_contain_text("What you have written stays here.")
    first = await countdown(dennis).inner_text()
    await dennis.clock.run_for(3_000)
    await expect(countdown(dennis)).not_to_have_text(first)
    await box(dennis).press("End")
    await box(dennis).press_sequentially(", and more")
    await dennis.keyboard.press("Enter")
    await expect(box(dennis)).to_have_value("Two, and more")
    assert len(sent) == 1
    await dennis.clock.run_for(60_000)
    await expect(countdown(dennis)).to_be_empty()
    await expect(note(dennis)).to_have_text("You can write again.")
    await demo.patch("linus", f"/conversations/{conversation_id}", slowModeSeconds=0)
    await expect(note(dennis)).to_be_empty()
    await dennis.keyboard.press("Enter")
    await expect(message(main_list(dennis), "Two, and more")).to_be_visible()


async def test_one_waits_no_longer_than_slow_mode_lasts(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """A shorter interval counts at once, in the conversation and in its threads."""
    complaints.excuse("429")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    here = f"/conversations/{conversation_id}"
    await demo.patch("linus", here, slowModeSeconds=3_600)
    root = await demo.write("dennis", conversation_id, "One")
    dennis = await visit("dennis", f"{conversation_id}/{root['id']}")
    # The countdown runs more often than once a second.
    await hurry(dennis)
    await write(dennis, "Two", in_thread=True)
    answer = dennis.get_by_label("Message in the thread", exact=True)
    await expect(answer).to_have_value("Two")
    await expect(countdown(dennis)).to_contain_text("59:")
    await expect(thread(dennis).get_by_role("timer")).to_contain_text("59:")
    await demo.patch("linus", here, slowModeSeconds=60)
    await expect(countdown(dennis)).to_have_text(re.compile(r"in (1:00|0:\d\d)\.$"))
    await demo.patch("linus", here, slowModeSeconds=0)
    await expect(countdown(dennis)).to_be_empty()
    await answer.press("Enter")
    await expect(message(thread(dennis), "Two")).to_be_visible()


async def test_what_is_refused_stands_aside_of_what_was_begun(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("429")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.patch("linus", f"/conversations/{conversation_id}", slowModeSeconds=60)
    await demo.write("dennis", conversation_id, "One")
    dennis = await visit("dennis", conversation_id)
    is_released = asyncio.Event()

    async def hold(route: Route) -> None:
        await is_released.wait()
        await route.continue_()

    await dennis.route("**/messages?*", hold)
    await write(dennis, "Two")
    await box(dennis).fill("Three")
    is_released.set()
    await expect(countdown(dennis)).not_to_be_empty()
    await expect(box(dennis)).to_have_value("Three")
    await expect(message(main_list(dennis), "Two")).to_have_attribute("data-state", "waiting")


async def test_somebody_is_banned_and_may_come_back(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("403")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    here = f"/conversations/{conversation_id}"
    await demo.patch("linus", here, visibility="public", joinPolicy="open")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", conversation_id)
    bans = details(linus).get_by_role("region", name="Banned")
    await expect(bans).to_contain_text("Nobody is banned.")
    await manage(linus, "Dennis", "Ban from here")
    await linus.get_by_role("dialog").get_by_role("button", name="Ban").click()
    await expect(dennis.locator("#notice")).to_have_text("Linus removed you from Kernel.")
    await expect(bans).to_contain_text("Dennis")
    await dennis.goto(dennis.url.split("#")[0] + "#dennis/channels")
    join = dennis.get_by_role("button", name="Join Kernel")
    await join.click()
    refused = dennis.get_by_role("alert").filter(has_text="until one of its admins lifts the ban")
    await expect(refused).to_contain_text("write to one of them")
    await demo.patch("linus", here, joinPolicy="approval")
    await dennis.get_by_role("button", name="Refresh").click()
    await dennis.get_by_role("button", name="Ask to join Kernel").click()
    asking = dennis.get_by_role("dialog", name="Ask to join Kernel")
    await asking.get_by_role("button", name="Ask to join").click()
    await expect(asking.get_by_role("alert")).to_contain_text("until one of its admins lifts")
    await dennis.keyboard.press("Escape")
    invite = await demo.post("linus", f"{here}/invites")
    await dennis.goto(dennis.url.replace("channels", f"invite/{invite['invite']['code']}"))
    await dennis.get_by_role("button", name="Join").click()
    refused = dennis.get_by_role("alert").filter(has_text="write to Linus, who has invited you")
    await expect(refused).to_be_visible()
    await demo.patch("linus", here, joinPolicy="open")
    await dennis.goto(dennis.url.split("#")[0] + "#dennis/channels")
    await bans.get_by_role("button", name="Lift the ban of Dennis").click()
    await expect(bans).to_contain_text("Nobody is banned.")
    await join.click()
    await expect(dennis.locator("#title")).to_have_text("Kernel")
