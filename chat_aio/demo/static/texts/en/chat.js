/** Everyday words: the frame, the list, a conversation, its messages, the search. */

export const chat = {
  // What is used in many places
  "page.title": "Chat",
  "common.again": "Try again",
  "common.cancel": "Cancel",
  "common.close": "Close",
  "common.loadMore": "Load more",
  "common.loading": "Loading…",
  "common.optional": "(optional)",
  "common.refresh": "Refresh",
  "common.yes": "Yes",
  "language.choose": "Language",

  // Who one is
  "welcome.title": "Who are you today?",
  "welcome.about":
    "This is a demo without passwords. Pick someone, then open a second window as someone " +
    "else, and talk to yourself.",
  "banned.title": "You are banned",
  "banned.window": "Banned · {name}",
  "banned.words":
    "{name} is kept out of this chat by its moderators. Nothing can be read or written until " +
    "that ends.",
  "me.name": "You are",
  "me.switch": "Switch",
  "me.switchTo": "Switch to someone else",

  // The frame
  "frame.overview": "Overview",
  "frame.back": "Back",
  "frame.backToList": "Back to the conversations",
  "connection.label": "Connection",
  "connection.now": "Try now",
  "nothing.label": "No conversation is open",
  "nothing.title": "Pick a conversation",
  "nothing.about": "It takes two to chat:",
  "presence.online": "Online",

  // The list of conversations, and the search
  "list.label": "Conversations",
  "direct.new": "New message",
  "search.label": "Search messages",
  "search.close": "Close the search",
  "search.here": "Search in this conversation",
  "search.results": "Search results",

  // A conversation, and a thread
  "timeline.label": "Messages",
  "thread.title": "Thread",
  "thread.close": "Close the thread",
  "thread.messages": "Thread messages",
  "thread.message": "Message in the thread",
  "thread.also": "Also send to the conversation",

  // Where one writes
  "composer.message": "Message",
  "composer.people": "People to mention",
  "composer.cancel": "Cancel (Escape)",
  "composer.pickEmoji": "Choose an emoji",
  "composer.send": "Send",
  "composer.sendKey": "Send (Enter)",
  "emoji.title": "Emoji",
  "emoji.add": "Add",
  "emoji.all": "All emoji",
  "emoji.search": "Search emoji",
  "emoji.searchOrOther": "Search, or another emoji",

  // A message
  "message.actions": "Actions",
  "message.more": "More actions",
};
