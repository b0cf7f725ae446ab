"""The stored documents of each collection, in camelCase as in MongoDB.

The collections' validators, and the rows that readers leave out, follow from these types
(`store/shapes.py`). Fields that every running version writes are required; new ones `NotRequired`.
"""

from chat_aio.store.documents.attachments import (
    AttachedDocument,
    AttachmentDocument,
    StoredChunkDocument,
    StoredFileDocument,
)
from chat_aio.store.documents.changes import (
    Change,
    ChangeKind,
    ConversationPart,
    Stamp,
)
from chat_aio.store.documents.conversations import (
    ROOM_CONTROLS,
    SINCE_JOIN,
    BlockDocument,
    ConversationBanDocument,
    ConversationDocument,
    CounterDocument,
    DeletedConversationDocument,
    DepartureDocument,
    InviteDocument,
    JoinRequestDocument,
    MuteDocument,
    ParticipantDocument,
    PositionDocument,
    ViewDocument,
)
from chat_aio.store.documents.drafts import (
    DraftDocument,
)
from chat_aio.store.documents.inbox import (
    ThreadStateDocument,
)
from chat_aio.store.documents.installation import (
    DailyStatsDocument,
    SettingDocument,
    SignalDocument,
)
from chat_aio.store.documents.messages import (
    ForwardedFromDocument,
    MentionDocument,
    MessageDocument,
    ParentDocument,
    ReactionDocument,
    SearchFields,
    ThreadDocument,
    VersionDocument,
)
from chat_aio.store.documents.moderation import (
    AuditEntry,
    BanDocument,
    HeldMessageDocument,
    LegalHoldDocument,
    ReportDocument,
)
from chat_aio.store.documents.notifications import (
    DeviceDocument,
    NotificationDocument,
    NotificationMessageDocument,
    NotificationSettingDocument,
    ShownDocument,
    WebhookDeliveryDocument,
)
from chat_aio.store.documents.presence import (
    PresenceDocument,
    ProcessDocument,
)

__all__ = [
    "ROOM_CONTROLS",
    "SINCE_JOIN",
    "AttachedDocument",
    "AttachmentDocument",
    "AuditEntry",
    "BanDocument",
    "BlockDocument",
    "Change",
    "ChangeKind",
    "ConversationBanDocument",
    "ConversationDocument",
    "ConversationPart",
    "CounterDocument",
    "DailyStatsDocument",
    "DeletedConversationDocument",
    "DepartureDocument",
    "DeviceDocument",
    "DraftDocument",
    "ForwardedFromDocument",
    "HeldMessageDocument",
    "InviteDocument",
    "JoinRequestDocument",
    "LegalHoldDocument",
    "MentionDocument",
    "MessageDocument",
    "MuteDocument",
    "NotificationDocument",
    "NotificationMessageDocument",
    "NotificationSettingDocument",
    "ParentDocument",
    "ParticipantDocument",
    "PositionDocument",
    "PresenceDocument",
    "ProcessDocument",
    "ReactionDocument",
    "ReportDocument",
    "SearchFields",
    "SettingDocument",
    "ShownDocument",
    "SignalDocument",
    "Stamp",
    "StoredChunkDocument",
    "StoredFileDocument",
    "ThreadDocument",
    "ThreadStateDocument",
    "VersionDocument",
    "ViewDocument",
    "WebhookDeliveryDocument",
]
