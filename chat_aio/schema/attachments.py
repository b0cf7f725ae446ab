"""What the plugin of attachments answers."""

from chat_aio.schema.models import Attachment
from chat_aio.schema.wire import Wire


class Attached(Wire):
    """A file that was uploaded, for `attachmentIds` of a message."""

    attachment: Attachment
