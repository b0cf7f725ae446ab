"""The routes of groups with keys, which a chat has with the option `conversation_keys`."""

from chat_aio import errors
from chat_aio.actions import keyed_groups
from chat_aio.schema import inputs
from chat_aio.web.operations import Opening, Operation
from chat_aio.web.refusals import MANAGING

ADDING = (errors.UserNotFound, errors.GroupLimitExceeded, errors.DirectInteractionBlocked)

KEY_ROUTES: tuple[Operation, ...] = (
    Opening(
        "POST",
        "/conversations/group",
        keyed_groups.open_group,
        body=inputs.KeyedGroup,
        body_optional=True,
        envelope="conversation",
        status=201,
        quota="conversations",
        errors=(
            *ADDING,
            errors.ChannelsUnsupported,
            errors.CreateNotAllowed,
            errors.KeyNotAllowed,
            errors.ConversationNotFound,
        ),
    ),
    Operation(
        "PUT",
        "/conversations/{conversation_id}/participants",
        keyed_groups.set_participants,
        body=inputs.ParticipantSet,
        envelope="conversation",
        errors=(
            *MANAGING,
            *ADDING,
            errors.LeaveNotAllowed,
            errors.LastAdminRemaining,
            errors.ConversationBanned,
        ),
    ),
)
"""The first takes the place of the contract's own route, and takes a `key` as well."""
