/** What the service refuses, by its code. */

export const problems = {
  "slowMode.wait": {
    one: "Slow mode: try again in {count} second.",
    other: "Slow mode: try again in {count} seconds.",
  },
  "refused.invalid": "That cannot be done with what was given.",
  "problem.UNREACHABLE": "The chat is out of reach.",
  "problem.ALREADY_PARTICIPANT": "You are in this group already",
  "problem.ATTACHMENT_LIMIT_EXCEEDED":
    "You have attached as many files as you may within a day, or as large ones",
  "problem.ATTACHMENT_NOT_FOUND": "There is no such attachment",
  "problem.ATTACHMENT_TYPE_UNSUPPORTED": "Files of this kind cannot be attached here",
  "problem.BAN_NOT_FOUND": "There is no such ban",
  "problem.CONVERSATION_BANNED":
    "Who is banned from this conversation cannot come in until an admin lifts the ban",
  "problem.CONVERSATION_FROZEN": "This conversation is frozen: only its admins can write",
  "problem.CONVERSATION_NOT_FOUND": "There is no such conversation",
  "problem.DIRECT_INTERACTION_BLOCKED": "One of the two has blocked the other",
  "problem.DRAFT_NOT_FOUND": "There is no such draft, or no longer",
  "problem.FORBIDDEN_READ": "You may not read this conversation",
  "problem.FORBIDDEN_WRITE": "You may not write to this conversation",
  "problem.GROUP_LIMIT_EXCEEDED": "A conversation has at most 256 participants",
  "problem.HELD_MESSAGE_NOT_FOUND":
    "There is no such held message; it may have been released or discarded",
  "problem.HELD_MESSAGE_RELEASED":
    "A moderator has released this message; it cannot be discarded any more",
  "problem.INTERNAL_ERROR": "Something went wrong on our side",
  "problem.INVITE_EXPIRED": "This invite has expired or is used up",
  "problem.INVITE_LIMIT_EXCEEDED": "A group has at most 50 invites; revoke one first",
  "problem.INVITE_NOT_FOUND": "There is no such invite",
  "problem.JOIN_REQUEST_NOT_FOUND": "There is no such pending request",
  "problem.LAST_ADMIN_REMAINING":
    "A group needs at least one admin; make somebody else an admin first",
  "problem.MENTION_NOT_PARTICIPANT": "Only participants can be mentioned",
  "problem.MESSAGE_DELETED": "The message is deleted",
  "problem.MESSAGE_NOT_FOUND": "There is no such message",
  "problem.MESSAGE_NOT_RESTORABLE": "No moderator has removed this message, or too long ago",
  "problem.NOT_CONVERSATION_ADMIN": "Only an admin of the conversation may do this",
  "problem.NOT_MESSAGE_SENDER": "Only its sender may change a message",
  "problem.NOT_MODERATOR": "Only a moderator may do this",
  "problem.NOT_PUBLIC_CONVERSATION": "This conversation is not a public channel",
  "problem.PAYLOAD_TOO_LARGE": "The request body is too large",
  "problem.PIN_LIMIT_EXCEEDED": "A conversation has at most 50 pinned messages",
  "problem.RATE_LIMITED": "Too many requests; wait for as many seconds as Retry-After says",
  "problem.REACTION_LIMIT_EXCEEDED":
    "This message has as many reactions as it can have, or as you may give it",
  "problem.REPORT_NOT_FOUND": "There is no such report",
  "problem.ROLE_NOT_ALLOWED": "Your messages may not have this role",
  "problem.STORAGE_UNAVAILABLE":
    "The database was not reached in time; nothing was written, so try again",
  "problem.UNAUTHENTICATED": "Authentication is required",
  "problem.USER_BANNED": "You are banned",
  "problem.USER_NOT_FOUND": "There is no such user",
};
