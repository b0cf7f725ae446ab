"""Attachments: files that messages carry (docs/guides/attachments.md)."""

from chat_aio.plugins.attachments.gridfs import GridFS
from chat_aio.plugins.attachments.plugin import Attachments
from chat_aio.plugins.attachments.scanning import FileInfo, Scan
from chat_aio.plugins.attachments.stores import Store

__all__ = ["Attachments", "FileInfo", "GridFS", "Scan", "Store"]
