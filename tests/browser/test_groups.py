"""Groups: made, renamed, published; people come, rise and go. Whoever looks on sees it happen."""

import re

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.acting import details, main_list
from tests.browser.conftest import Visit
from tests.browser.looking import fits
from tests.browser.serving import Complaints, Demo
from tests.browser.test_layout import PHONE, PHONE_WIDTH

pytestmark = pytest.mark.asyncio(loop_scope="session")

LAST_ADMIN = re.compile("admin")


def person(page: Page, name: str) -> Locator:
    return details(page).locator(".persons li").filter(has_text=name)


async def manage(page: Page, name: str, action: str) -> None:
    """Choose what an admin does with somebody."""
    await details(page).get_by_role("button", name=f"Actions for {name}").click()
    await page.get_by_role("menuitem", name=action).click()


async def test_a_group_is_made_renamed_and_published(visit: Visit, demo: Demo) -> None:
    dennis, linus = await visit("dennis"), await visit("linus")
    await linus.get_by_role("button", name="New group").click()
    dialog = linus.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Kernel")
    await dialog.get_by_role("checkbox", name="Dennis").check()
    await expect(dialog.get_by_label("How people join")).to_be_disabled()
    await dialog.get_by_label("Who can find it").select_option("public")
    await dialog.get_by_label("How people join").select_option("approval")
    await dialog.get_by_role("button", name="Create group").click()
    await dennis.get_by_role("link", name="Kernel").click()
    for page in (linus, dennis):
        await page.get_by_role("link", name="Details").click()
    await expect(details(dennis)).to_contain_text("A public channel: admins let people in.")
    await expect(details(dennis).get_by_role("button", name="Save")).to_be_hidden()

    name, save = details(linus).get_by_label("Name"), details(linus).get_by_role("button")
    save = save.filter(has_text="Save")
    await expect(save).to_be_disabled()
    await name.fill("  Kernel hackers ")
    await save.click()
    await expect(details(linus).get_by_text("Saved.")).to_be_visible()
    await expect(name).to_have_value("Kernel hackers")
    await expect(dennis.locator("#title")).to_have_text("Kernel hackers")
    await expect(dennis.locator(".row-title").first).to_have_text("Kernel hackers")

    await details(linus).get_by_label("How people join").select_option("open")
    await save.click()
    await expect(details(dennis)).to_contain_text("A public channel: anybody can join.")
    await details(linus).get_by_label("Who can find it").select_option("private")
    await name.fill("")
    await save.click()
    await expect(details(dennis)).to_contain_text("A private group")
    await expect(dennis.locator("#title")).to_have_text("Linus")
    conversation_id = linus.url.split("/")[-2]
    made = (await demo.get("linus", f"/conversations/{conversation_id}"))["conversation"]
    assert (made["name"], made["visibility"]) == (None, "private")


async def test_what_one_has_begun_is_not_overwritten(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("400")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    name = details(linus).get_by_label("Name")
    await name.fill("My idea")
    await demo.patch("linus", f"/conversations/{conversation_id}", name="K", visibility="public")
    await expect(details(linus).get_by_label("Who can find it")).to_have_value("public")
    await expect(linus.locator("#title")).to_have_text("K")
    await expect(name).to_have_value("My idea")

    await name.evaluate("node => node.removeAttribute('maxlength')")
    await name.fill("x" * 201)
    await name.press("Enter")
    await expect(
        details(linus).get_by_role("alert").filter(has_text="not accept this")
    ).to_be_visible()


async def test_a_group_is_deleted_by_the_host(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """Users who have it open read that it is not open to them; the others find it gone from the
    list."""
    complaints.excuse_lost_access()
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", conversation_id, "Among us")
    linus, dennis = await visit("linus", f"{conversation_id}/details"), await visit("dennis")
    await expect(details(linus).get_by_role("heading", name="2 people")).to_be_visible()
    await expect(dennis.get_by_role("link", name="Kernel")).to_be_visible()
    await demo.delete_conversation(conversation_id)
    await expect(linus.locator("#notice")).to_have_text("That conversation is not open to you.")
    for page in (linus, dennis):
        await expect(page.get_by_role("link", name="Kernel")).to_have_count(0)


async def test_people_come_rise_and_go(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    await demo.send("linus", conversation_id, "Among us")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", f"{conversation_id}/details")
    margaret = await visit("margaret")
    await expect(details(dennis).get_by_role("heading", name="2 people")).to_be_visible()
    await expect(details(dennis).get_by_role("button", name="Add people")).to_be_hidden()
    await expect(details(dennis).get_by_role("button", name="Actions for")).to_have_count(0)

    await details(linus).get_by_role("button", name="Add people").click()
    await linus.get_by_role("dialog").get_by_role("button", name="Add").click()
    await expect(linus.get_by_role("dialog").get_by_role("alert")).to_have_text("Choose somebody.")
    await expect(linus.get_by_role("dialog").get_by_role("checkbox")).to_have_count(4)
    await linus.get_by_role("dialog").get_by_role("checkbox", name="Margaret").check()
    await linus.get_by_role("dialog").get_by_role("button", name="Add").click()
    await margaret.get_by_role("link", name="Kernel").click()
    await expect(main_list(margaret)).to_contain_text("Among us")
    await expect(details(dennis).get_by_role("heading", name="3 people")).to_be_visible()

    await margaret.get_by_role("link", name="Details").click()
    await expect(details(margaret).get_by_role("button", name="Add people")).to_be_hidden()
    await manage(linus, "Margaret", "Make admin")
    await expect(person(dennis, "Margaret").get_by_text("Admin")).to_be_visible()
    await expect(person(dennis, "Dennis").get_by_text("Admin")).to_be_hidden()
    await expect(details(margaret).get_by_role("button", name="Add people")).to_be_visible()

    await manage(margaret, "Dennis", "Remove")
    await margaret.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(dennis.locator("#notice")).to_have_text("Margaret removed you from Kernel.")
    await expect(dennis.get_by_role("link", name="Kernel")).to_have_count(0)
    await expect(details(dennis)).to_be_hidden()
    await expect(dennis).to_have_url(re.compile(r"#dennis$"))
    await expect(details(linus).get_by_role("heading", name="2 people")).to_be_visible()
    await manage(linus, "Margaret", "Make member")
    await expect(details(margaret).get_by_role("button", name="Add people")).to_be_hidden()


async def test_the_last_admin_stays_and_others_leave(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    complaints.excuse("409")
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", f"{conversation_id}/details")
    dennis = await visit("dennis", f"{conversation_id}/details")
    dialog = linus.get_by_role("dialog", name="Leave Kernel?")
    await manage(linus, "Linus", "Make member")
    people = details(linus).get_by_role("region", name="2 people")
    await expect(people.get_by_role("alert")).to_contain_text(LAST_ADMIN)
    await details(linus).get_by_role("button", name="Leave the group").click()
    await dialog.get_by_role("button", name="Leave").click()
    await expect(dialog.get_by_role("alert")).to_contain_text(LAST_ADMIN)
    await dialog.get_by_role("button", name="Cancel").click()

    await manage(linus, "Dennis", "Make admin")
    await expect(person(dennis, "Dennis").get_by_text("Admin")).to_be_visible()
    await expect(people.get_by_role("alert")).to_be_hidden()
    await details(linus).get_by_role("button", name="Leave the group").click()
    await dialog.get_by_role("button", name="Leave").click()
    await expect(linus.locator("#notice")).to_have_text("You left Kernel.")
    await expect(linus.get_by_role("link", name="Kernel")).to_have_count(0)
    await expect(dialog).to_be_hidden()
    await expect(details(dennis).get_by_role("heading", name="1 person")).to_be_visible()


async def test_the_keyboard_opens_and_closes_the_details(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Kernel")
    linus = await visit("linus", conversation_id)
    # It takes the focus when it is loaded.
    await expect(linus.get_by_label("Message", exact=True)).to_be_focused()
    opener = linus.get_by_role("link", name="Details")
    await opener.press("Enter")
    await expect(linus.get_by_role("link", name="Close the details")).to_be_focused()
    menu = details(linus).get_by_role("button", name="Actions for Dennis")
    await menu.press("Enter")
    await expect(linus.get_by_role("menuitem", name="Make admin")).to_be_focused()
    await linus.keyboard.press("Escape")
    await expect(menu).to_be_focused()
    await expect(details(linus)).to_be_visible()
    await linus.keyboard.press("Escape")
    await expect(details(linus)).to_be_hidden()
    await expect(opener).to_be_focused()

    direct_id = await demo.direct("linus", "dennis")
    await linus.evaluate("id => { location.hash = `linus/${id}/details`; }", direct_id)
    await expect(linus.get_by_role("heading", name="Dennis")).to_be_visible()
    regions = details(linus).get_by_role("region")
    await expect(regions).to_have_count(2)
    for number, name in enumerate(("Pinned", "Mute, block and report")):
        await expect(regions.nth(number)).to_have_accessible_name(name)


async def test_on_a_phone_the_details_are_a_screen(visit: Visit, demo: Demo) -> None:
    conversation_id = await demo.group("linus", "dennis", name="Unbreakable" * 15)
    await demo.post("linus", f"/conversations/{conversation_id}/invites", maxUses=5)
    path = f"/conversations/{conversation_id}/join-requests"
    await demo.post("grace", path, message="indivisible" * 40)
    linus = await visit("linus", conversation_id, **PHONE)
    await linus.get_by_role("link", name="Details").tap()
    await expect(details(linus)).to_contain_text("indivisible")
    await expect(details(linus)).to_contain_text("Used 0 of 5")
    assert await fits(linus)
    width = await details(linus).evaluate("node => node.getBoundingClientRect().width")
    assert width == PHONE_WIDTH
    inner = "node => node.scrollWidth <= node.clientWidth"
    assert await details(linus).locator(".details").evaluate(inner)
    await expect(main_list(linus)).to_be_hidden()
    await details(linus).get_by_role("button", name="New link").tap()
    create = linus.get_by_role("dialog").get_by_role("button", name="Create link")
    await expect(create).to_be_in_viewport(ratio=1)
    await create.tap()
    copy = details(linus).get_by_role("button", name="Copy")
    await expect(copy).to_have_count(2)
    # A page that did not come over HTTPS has no clipboard.
    await linus.evaluate("delete Navigator.prototype.clipboard")
    await copy.first.tap()
    await expect(details(linus).get_by_role("textbox", name="Invite link").first).to_be_focused()
    await linus.get_by_role("link", name="Close the details").tap()
    await expect(main_list(linus)).to_be_visible()


async def test_no_group_of_oneself_by_accident(visit: Visit, demo: Demo) -> None:
    linus = await visit("linus")
    await linus.get_by_role("button", name="New group").click()
    dialog = linus.get_by_role("dialog", name="New group")
    await dialog.get_by_label("Name").fill("Alone")
    await linus.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_contain_text("Nobody else is chosen.")
    assert not (await demo.get("linus", "/conversations", q="Alone"))["conversations"]
    await dialog.get_by_role("button", name="Create group").click()
    await expect(linus.get_by_role("heading", name="Alone")).to_be_visible()


async def test_leaving_is_described_as_it_is(
    visit: Visit, demo: Demo, complaints: Complaints
) -> None:
    """Whoever leaves a channel can join it again; that one has left is no problem."""
    complaints.excuse_lost_access()
    group = await demo.group("ada", "linus", name="Kernel")
    await demo.patch("ada", f"/conversations/{group}", visibility="public", joinPolicy="open")
    linus = await visit("linus", f"{group}/details")
    leave = details(linus).get_by_role("button").last
    await expect(leave).to_have_text("Leave the group")
    await leave.click()
    dialog = linus.get_by_role("dialog", name="Leave Kernel?")
    await expect(dialog).to_contain_text("you can join again at any time")
    await dialog.get_by_role("button", name="Leave").click()
    await expect(linus.locator("#notice[data-done]")).to_have_text("You left Kernel.")
