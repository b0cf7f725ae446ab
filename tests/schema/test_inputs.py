"""Shapes are strict: nothing is coerced, the first wrong field is named."""

from datetime import datetime
from itertools import product
from typing import Any

import pytest
from pydantic import Field, ValidationError

from chat_aio.errors import GroupLimitExceeded, InvalidInput
from chat_aio.schema import inputs

NOT_IDS: list[Any] = ["", "  ", "\u3000", "x" * 257, "a\0b", "\ud800", 7, True, None, [], {}, 1.5]


@pytest.mark.parametrize("value", NOT_IDS)
def test_what_can_be_no_id(value: Any) -> None:
    with pytest.raises(InvalidInput, match="otherUserId"):
        inputs.read(inputs.DirectConversation, other_user_id=value)


@pytest.mark.parametrize("value", ["a", "x" * 256, "a:b", "ü", " a ", "😀" * 256, "$where", "{}"])
def test_every_other_string_is_an_id(value: str) -> None:
    assert inputs.read(inputs.DirectConversation, other_user_id=value).other_user_id == value


WRONG: list[tuple[str, Any]] = [
    ("name", ""),
    ("name", "  "),
    ("name", "x" * 201),
    ("name", 7),
    ("name", "\ud800"),
    ("user_ids", "bob"),
    ("user_ids", {"bob": 1}),
    ("user_ids", ["bob", 7]),
    ("user_ids", ["bob", ""]),
    ("user_ids", ["bob", None]),
    ("metadata", []),
    ("metadata", "x"),
    ("metadata", {1: 2}),
    ("metadata", {"a": object()}),
    ("metadata", {"a": 2**63}),
    ("metadata", {"a": float("nan")}),
    ("metadata", {"a": float("inf")}),
    ("metadata", {"a": "\udfff"}),
    ("metadata", {"\udfff": 1}),
    ("metadata", {"a": (1, 2)}),
    ("visibility", "secret"),
    ("visibility", True),
    ("join_policy", "closed"),
    ("join_policy", ["open"]),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_wrong_group_fields(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput):
        inputs.read(inputs.GroupConversation, **{field: value})


def test_a_name_is_trimmed_and_counted_in_code_points() -> None:
    given = inputs.read(inputs.GroupConversation, name="\u2003" + "😀" * 200 + "\n")
    assert given.name == "😀" * 200


def test_metadata_may_be_64_levels_deep_and_no_deeper() -> None:
    def nested(levels: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for _ in range(levels - 1):
            value = {"a": value}
        return value

    inputs.read(inputs.GroupConversation, metadata=nested(64))
    with pytest.raises(InvalidInput):
        inputs.read(inputs.GroupConversation, metadata=nested(65))


def test_metadata_has_a_size() -> None:
    metadata = {"a": "x" * 100}
    read = inputs.read(inputs.GroupConversation, metadata_within=108, metadata=metadata)
    assert read.metadata == metadata
    with pytest.raises(InvalidInput, match="metadata must be at most 107 bytes"):
        inputs.read(inputs.GroupConversation, metadata_within=107, metadata=metadata)


class Looked(str):
    """A text that knows how many of it were looked at."""

    times = 0

    def encode(self, *args: Any) -> bytes:
        Looked.times += 1
        return super().encode(*args)


def test_of_metadata_no_more_is_looked_at_than_may_be() -> None:
    for metadata in ({"a": [Looked("x")] * 100_000}, {"a": [[Looked("x")] * 100] * 1_000}):
        with pytest.raises(InvalidInput, match="metadata must be at most 1024 bytes"):
            inputs.read(inputs.GroupConversation, metadata_within=1_024, metadata=metadata)
    assert Looked.times <= 1_024


def test_a_list_is_refused_at_its_first_wrong_entry() -> None:
    wrong = [Looked(" ")] * 256
    Looked.times = 0
    for shape, given in (
        (inputs.Participants, {"user_ids": wrong}),
        (inputs.Edit, {"body": "x", "mentions": wrong}),
        (inputs.Participants, {"user_ids": [None] * 256}),
    ):
        with pytest.raises(InvalidInput) as refused:
            inputs.read(shape, **given)
        cause = refused.value.__context__
        assert isinstance(cause, ValidationError)
        assert cause.error_count() == 1


def test_the_length_of_a_list_is_looked_at_before_its_entries() -> None:
    for users in ([None] * 4_097, ["bob"] * 4_097, tuple(["bob"] * 4_097)):
        with pytest.raises(GroupLimitExceeded):
            inputs.read(inputs.Participants, user_ids=users)
        with pytest.raises(GroupLimitExceeded):
            inputs.read(inputs.GroupConversation, user_ids=users)
    for entries in ([None] * 257, ["bob"] * 257, ("bob",) * 257):
        with pytest.raises(InvalidInput, match="mentions must be at most 256 users"):
            inputs.read(inputs.NewMessage, body="x", mentions=entries)


SENTENCES: list[tuple[type[inputs.Input], dict[str, Any], str]] = [
    (inputs.DirectConversation, {}, "otherUserId is missing"),
    (inputs.DirectConversation, {"other_user_id": None}, "otherUserId is missing"),
    (inputs.Search, {}, "q is missing"),
    (inputs.Search, {"query": 7}, "q must be a string"),
    (inputs.ParticipantRemove, {"target_user_id": 7}, "userId must be a string"),
    (
        inputs.ParticipantRemove,
        {"target_user_id": " "},
        "userId must be an id of 1 to 256 characters, not blank",
    ),
    (inputs.Participants, {}, "userIds is missing"),
    (inputs.Participants, {"user_ids": "bob"}, "userIds must be a list"),
    (inputs.Participants, {"user_ids": ["bob", None]}, "userIds.1 must be a string"),
    (inputs.JoinRequestDecisionRequest, {"target_user_id": "bob"}, "decision is missing"),
    (
        inputs.JoinRequestDecisionRequest,
        {"target_user_id": "bob", "decision": "yes"},
        "decision must be 'approve' or 'deny'",
    ),
    (inputs.NewMessage, {"body": "x", "role": 7}, "role must be 'user', 'assistant' or 'system'"),
    (inputs.NewMessage, {"body": "x", "metadata": []}, "metadata must be a JSON object"),
    (inputs.NewMessage, {"body": " "}, "body must not be blank"),
    (inputs.NewInvite, {"max_uses": "5"}, "maxUses must be a whole number"),
    (inputs.NewInvite, {"requires_approval": 1}, "requiresApproval must be true or false"),
    (inputs.Page, {"limit": 0}, "limit must be at least 1"),
    (inputs.GroupConversation, {"name": "x" * 201}, "name must be 1 to 200 characters after"),
    (inputs.NewBan, {"target_user_id": "bob", "expires_at": "xT"}, "expiresAt must be a time in"),
    (
        inputs.NewBan,
        {"target_user_id": "bob", "reason": "x" * 1_001},
        "reason must be at most 1000",
    ),
]


@pytest.mark.parametrize(("shape", "given", "said"), SENTENCES)
def test_what_is_wrong_is_said_with_the_name_of_the_field(
    shape: type[inputs.Input], given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        inputs.read(shape, **given)
    assert str(refused.value).startswith(said)


ODD: list[Any] = [
    None, True, 0, -1, 2**70, 1.5, float("nan"), "", " ", "x" * 3_000, "\ud800", b"x", [], [None],
    ["\ud800"], (), {}, {"a": object()}, {1: 2}, object(), range(3), datetime.max,
]  # fmt: skip


SHAPES: list[type[inputs.Input]] = [*inputs.Input.__subclasses__(), *inputs.Page.__subclasses__()]


def test_there_is_a_sentence_for_each_way_to_be_wrong() -> None:
    found: set[str] = set()
    for shape in SHAPES:
        for name, value in product(shape.model_fields, ODD):
            try:
                shape.model_validate({name: value})
            except ValidationError as error:
                found |= {error_detail["type"] for error_detail in error.errors()}
    assert found == inputs.SENTENCES.keys()


def test_the_rules_of_a_plugins_own_shape_are_named() -> None:
    class Poll(inputs.Input):
        vote_options: list[str] = Field(min_length=2)

    with pytest.raises(InvalidInput, match=r"^voteOptions: List should have at least 2 items"):
        inputs.read(Poll, vote_options=["secret"])
    with pytest.raises(InvalidInput, match=r"^voteOptions is missing"):
        inputs.read(Poll, vote_options=None)


@pytest.mark.parametrize("body", ["", " ", "\n\t\u2003", None, 7, ["x"], {"$gt": ""}, "a\ud800"])
def test_bodies_that_are_refused(body: Any) -> None:
    with pytest.raises(InvalidInput, match="body"):
        inputs.read(inputs.NewMessage, body=body)


def test_a_body_is_kept_verbatim() -> None:
    assert inputs.read(inputs.NewMessage, body=" a\0\n").body == " a\0\n"


@pytest.mark.parametrize("key", ["", "x" * 129, "a\0", 7, True])
def test_idempotency_keys_that_are_refused(key: Any) -> None:
    with pytest.raises(InvalidInput, match="clientMessageId"):
        inputs.read(inputs.NewMessage, body="x", client_message_id=key)


def test_null_is_absent_and_unknown_fields_are_ignored() -> None:
    arguments = inputs.NewMessage.arguments({"body": "x", "role": None, "senderId": "mallory"})
    assert arguments == {**dict.fromkeys(inputs.NewMessage.model_fields), "body": "x"}
    assert inputs.read(inputs.NewMessage, **arguments).role is None
