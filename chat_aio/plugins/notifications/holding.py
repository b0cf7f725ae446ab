"""Quiet hours hold notifications until their end; other hours release them earlier."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from chat_aio.actions.plugin_api import PluginAPI
from chat_aio.plugins.notifications.deciding import FRESH_SECONDS
from chat_aio.plugins.notifications.preferences import Preferences, quiet_hours_in
from chat_aio.plugins.notifications.quiet_hours import end_of
from chat_aio.plugins.notifications.rows import Rows

MARGIN_SECONDS = 1.0


class Holding:
    """A user may change the hours while the process with the lease holds notifications for the
    hours before. Each side writes first and then looks at what the other has written, so at least
    one of them releases these notifications."""

    def __init__(self, api: PluginAPI, preferences: Preferences, rows: Rows) -> None:
        self._api = api
        self._preferences = preferences
        self._rows = rows

    async def change_hours(self, user_id: str, hours: Mapping[str, str] | None) -> None:
        """Set a user's quiet hours. Notifications that the hours before hold are decided again."""
        await self._preferences.set_quiet_hours(user_id, hours)
        await self._release(user_id)

    async def look_again(self, held: Mapping[str, datetime]) -> None:
        """After notifications of some users were held until these times: release those of users
        whose hours end at another time by now."""
        rows = await self._preferences.find({(user_id, None) for user_id in held})
        now = self._api.now()
        for user_id, until in held.items():
            hours = quiet_hours_in(rows.get((user_id, None)))
            if hours is None or end_of(hours, now) != until:
                await self._release(user_id)

    async def _release(self, user_id: str) -> None:
        # Later than the deciding process may remember the hours before.
        later = self._api.now() + timedelta(seconds=FRESH_SECONDS + MARGIN_SECONDS)
        await self._rows.release(user_id, later)
