"""Drafts: messages that are read while they are written."""

from chat_aio.plugins.drafts.plugin import Drafts

__all__ = ["Drafts"]
