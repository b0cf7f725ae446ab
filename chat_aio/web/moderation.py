"""Moderation routes: parse, call, reply."""

from aiohttp import web

from chat_aio import inputs
from chat_aio.actions import bans, blocks, mutes, reports
from chat_aio.errors import InvalidInput
from chat_aio.web.replies import reply, reply_shape
from chat_aio.web.requests import acting, body_of, page_of


async def block(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Target)
    return reply(block=await blocks.block_user(*acting(request), **given))


async def unblock(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.Target)
    await blocks.unblock_user(*acting(request), **given)
    return reply(ok=True)


async def list_blocks(request: web.Request) -> web.Response:
    return reply_shape(await blocks.list_blocked_users(*acting(request), **page_of(request)))


async def mute(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.MutedConversation)
    return reply(mute=await mutes.mute_conversation(*acting(request), **given))


async def unmute(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.MutedConversation)
    await mutes.unmute_conversation(*acting(request), **given)
    return reply(ok=True)


async def list_mutes(request: web.Request) -> web.Response:
    return reply_shape(await mutes.list_muted_conversations(*acting(request), **page_of(request)))


async def report(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.NewReport)
    return reply(report=await reports.report(*acting(request), **given))


async def list_reports(request: web.Request) -> web.Response:
    given = {**inputs.ReportList.arguments(request.query), **page_of(request)}
    return reply_shape(await reports.list_reports(*acting(request), **given))


async def get_report(request: web.Request) -> web.Response:
    report_id = request.match_info["report_id"]
    return reply(report=await reports.get_report(*acting(request), report_id))


async def update_report(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.ReportChange)
    report_id = request.match_info["report_id"]
    return reply(report=await reports.update_report(*acting(request), report_id, **given))


async def list_bans(request: web.Request) -> web.Response:
    given = {"active_only": _active_only(request), **page_of(request)}
    return reply_shape(await bans.list_bans(*acting(request), **given))


async def ban(request: web.Request) -> web.Response:
    given = await body_of(request, inputs.NewBan)
    return reply(ban=await bans.ban_user(*acting(request), **given))


async def unban(request: web.Request) -> web.Response:
    ban_id = request.match_info["ban_id"]
    return reply(ban=await bans.unban_user(*acting(request), ban_id))


def _active_only(request: web.Request) -> bool:
    match request.query.get("activeOnly", "true"):
        case "true":
            return True
        case "false":
            return False
    raise InvalidInput("activeOnly: true or false")
