"""What may be wrong in a chat's database, with the kinds that a check names."""

from tests.admin.planting import (
    LONG_AGO,
    MEMBER,
    Case,
    another_direct,
    ban_from_a_direct_one,
    closed_place,
    direct,
    erased,
    group,
    head,
    in_group,
    invite,
    lone_head,
    lone_message,
    lost_message,
    many_invites,
    message,
    no_block,
    no_head,
    no_index,
    no_key,
    other_index,
    people,
    reactions,
    reader,
    removed,
    reply_to_a_reply,
    request,
    row,
    stub,
    thread_of_another,
    twin_messages,
    twin_requests,
    update,
)


def of(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


PENDING = {"status": "pending", "resolvedAt": None, "resolvedBy": None}
REPLY = {"replyCount": 1, "lastReplyAt": LONG_AGO}

CASES: dict[str, Case] = {
    "nothing": in_group(reader("alice", lambda _: {"language": "en"}), of()),
    "an earlier version's count": in_group(
        reader("alice", lambda _: {"own": {"from": 0, "to": 6, "count": 77}}), of()
    ),
    "what retention leaves": Case(removed, of()),
    "an erased half": Case(erased, of()),
    "no head": Case(no_head, of("head.missing"), mends=True),
    "a stub of a head": Case(stub, of("head.missing"), mends=True),
    "a head alone": Case(lone_head, of("head.alone")),
    "a message alone": Case(lone_message, of("message.alone", "row.shape")),
    "a counter's epoch ahead": in_group(head(epoch=99), of("epoch.differs"), mends=True),
    "a conversation's epoch ahead": in_group(group(epoch=99), of("epoch.differs"), mends=True),
    "a public head": in_group(head(public=True), of("head.public"), mends=True),
    "old activity": in_group(head(activityAt=LONG_AGO), of("head.activity"), mends=True),
    "no floor": in_group(head(floorSeq=None), of("head.floor"), mends=True),
    "a head behind": in_group(head(seq=4), of("head.seq"), mends=True),
    "a head that is no number": in_group(head(seq="6"), of("head.seq"), mends=True),
    "a head ahead": in_group(head(seq=9), of("seq.gap")),
    "a lost message": Case(lost_message, of("seq.gap")),
    "an older message behind": in_group(
        message("plain", lambda _: {"createdAt": LONG_AGO}), of("message.time")
    ),
    "no number": in_group(message("plain", lambda _: {"seq": 0}), of("message.seq", "seq.gap")),
    "no list": in_group(message("plain", lambda _: {"timelines": []}), of("message.timelines")),
    "a body": in_group(message("gone", lambda _: {"body": "oops"}), of("tombstone.content")),
    "terms": in_group(message("gone", lambda _: {"terms": ["oops"]}), of("tombstone.content")),
    "search": in_group(message("gone", lambda _: {"search": "0f0f"}), of("tombstone.content")),
    "tokens of other terms": in_group(
        message("plain", lambda _: {"search": "0f0f"}), of("message.tokens"), mends=True
    ),
    "terms without tokens": in_group(
        message("plain", lambda _: {"terms": ["word"]}), of("message.tokens"), mends=True
    ),
    "a reaction twice": in_group(
        message("plain", lambda _: {"reactions": reactions(1, 1) * 2}), of("reactions.repeated")
    ),
    "33 of a user": in_group(
        message("plain", lambda _: {"reactions": reactions(33, 1)}), of("reactions.too-many")
    ),
    "129 different": in_group(
        message("plain", lambda _: {"reactions": reactions(129, 129)}), of("reactions.too-many")
    ),
    "a mention twice": in_group(
        message("plain", lambda _: {"mentions": people(1) * 2}), of("mentions.repeated")
    ),
    "257 mentions": in_group(
        message("plain", lambda _: {"mentions": people(257)}), of("mentions.too-many")
    ),
    "an answer to nothing": in_group(
        message("answer", lambda _: {"replyToMessageId": "none"}), of("message.reply")
    ),
    "an answer to elsewhere": Case(
        update(
            "messages",
            lambda w: {"conversationId": w.direct, "seq": 1},
            lambda w: {"$set": {"replyToMessageId": w.root}},
        ),
        of("message.reply"),
    ),
    "a thread of nothing": in_group(
        message("plain", lambda _: {"threadRootMessageId": "none", "timelines": ["none"]}),
        of("thread.root"),
    ),
    "a thread of a reply": Case(reply_to_a_reply, of("thread.root")),
    "too many replies": in_group(
        message("root", lambda _: {"thread.replyCount": 7}), of("thread.count"), mends=True
    ),
    "an old last reply": in_group(
        message("root", lambda _: {"thread.lastReplyAt": LONG_AGO}), of("thread.count"), mends=True
    ),
    "replies that nobody gave": in_group(
        message("plain", lambda _: {"thread": REPLY}), of("thread.count"), mends=True
    ),
    "somebody twice": Case(
        update(
            "conversations",
            lambda w: {"_id": w.group},
            lambda _: {"$push": {"participants": {**MEMBER, "userId": "carol"}}},
        ),
        of("participants.repeated"),
    ),
    "257 people": Case(
        update(
            "conversations",
            lambda w: {"_id": w.channel},
            lambda _: {
                "$push": {"participants": {"$each": [{**MEMBER, **p} for p in people(256)]}}
            },
        ),
        of("participants.too-many"),
    ),
    "no admin": Case(
        update(
            "conversations",
            lambda w: {"_id": w.channel},
            lambda _: {"$set": {"participants.$[].role": "member"}},
        ),
        of("participants.admin"),
    ),
    "an owner": in_group(reader("carol", lambda _: {"role": "owner"}), of("participants.form")),
    "no people": Case(
        update(
            "conversations",
            lambda w: {"_id": w.channel},
            lambda _: {"$set": {"participants": "nobody"}},
        ),
        of("participants.form"),
    ),
    "a third kind": Case(
        direct({"$set": {"type": "channel"}}, name="direct"), of("conversation.type")
    ),
    "half a pair": Case(direct({"$pull": {"participants": {"userId": "bob"}}}), of("direct.pair")),
    "a member in a pair": Case(
        direct({"$set": {"participants.0.role": "member"}}), of("direct.roles")
    ),
    "another pair's key": Case(direct({"$set": {"pairKey": "a:b"}}), of("direct.pair-key")),
    "a pair twice": Case(another_direct, of("direct.id")),
    "no key of ids": Case(no_key, of("direct.id")),
    "a block that stops nothing": Case(
        direct({"$unset": {"blockedBy": ""}}, name="blocked"), of("direct.blocked-by")
    ),
    "a block that nobody made": Case(
        direct({"$set": {"blockedBy": ["bob"]}}), of("direct.blocked-by")
    ),
    "a block taken back by half": Case(no_block, of("direct.blocked-by")),
    "no read state": in_group(
        reader("alice", lambda _: {"lastReadSeq": None}), of("read state.seq"), mends=True
    ),
    "all read that is to come": in_group(
        reader("alice", lambda _: {"lastReadSeq": 99}), of("read state.ahead"), mends=True
    ),
    "another message read": in_group(
        reader("alice", lambda w: {"lastReadMessageId": w.root}),
        of("read state.message"),
        mends=True,
    ),
    "no message read": in_group(
        reader("alice", lambda _: {"lastReadMessageId": None}), of("read state.message"), mends=True
    ),
    "a lost message read": in_group(
        reader("alice", lambda _: {"lastReadMessageId": "none"}),
        of("read state.message"),
        mends=True,
    ),
    "a wrong count of a reader": in_group(
        reader("carol", lambda _: {"sentCount": 9}), of("sent.count"), mends=True
    ),
    "a count ahead": in_group(
        reader("carol", lambda _: {"sentUpToSeq": 99}), of("sent.count"), mends=True
    ),
    "a count that is none": in_group(
        reader("carol", lambda _: {"sentCount": "2"}), of("sent.count"), mends=True
    ),
    "a wrong count of a head": in_group(head(**{"sent.carol": 9}), of("sent.count"), mends=True),
    "messages that nobody counted": in_group(head(counted=4), of("head.counted"), mends=True),
    "a head's counts that are none": in_group(
        head(sent={"carol": "2"}), of("sent.count"), mends=True
    ),
    "too many uses": Case(invite(maxUses=2), of("invite.uses")),
    "too few uses": Case(invite(uses=2), of("invite.uses")),
    "a link to nowhere": Case(invite(conversationId="nowhere"), of("invite.conversation")),
    "51 links": Case(many_invites, of("invites.too-many", "row.shape")),
    "a link into a pair": Case(
        update(
            "invites",
            lambda w: {"_id": {"$ne": w.code}},
            lambda w: {"$set": {"conversationId": w.direct}},
        ),
        of("invite.conversation"),
    ),
    "a waiting participant": Case(request("erin", **PENDING), of("join-request.pending")),
    "nobody decided": Case(request("frank", resolvedBy=None), of("join-request.decision")),
    "decided and waiting": Case(request("gail", resolvedBy="bob"), of("join-request.decision")),
    "asking nowhere": Case(
        request("gail", conversationId="nowhere"), of("join-request.conversation")
    ),
    "a ban from a direct one": Case(
        ban_from_a_direct_one, of("conversation-ban.conversation"), place="direct"
    ),
    "another's active ban": Case(
        row("bans", {"activeUserId": "troll"}, activeUserId="x"), of("ban.active-user")
    ),
    "a revoked active ban": Case(
        row("bans", {"userId": "mallory"}, activeUserId="mallory"), of("ban.active-user")
    ),
    "a closed place": Case(closed_place, of("report.open-key")),
    "a settled report's place": Case(
        row("reports", {"openKey": {"$exists": True}}, status="resolved"), of("report.open-key")
    ),
    "a wrong place": Case(
        row("reports", {"targetType": "message"}, openKey="x"), of("report.open-key")
    ),
    "another's mute": Case(row("mutes", {}, userId="bob"), of("mute.id")),
    "another's thread": Case(thread_of_another, of("thread_state.id")),
    "another's block": Case(
        row("blocks", {"blockedUserId": "stranger"}, blockerUserId="x"), of("block.id")
    ),
    "no index": Case(no_index, of("index.missing")),
    "another index": Case(other_index, of("index.different")),
    "two requests of one": Case(twin_requests, of("index.missing", "index.twins")),
    "two messages at a number": Case(
        twin_messages, of("index.missing", "index.twins", "seq.repeated")
    ),
}
