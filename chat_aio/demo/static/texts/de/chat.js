/** Everyday words: the frame, the list, a conversation, its messages, the search. */

export const chat = {
  // What is used in many places
  "page.title": "Chat",
  "common.again": "Erneut versuchen",
  "common.cancel": "Abbrechen",
  "common.close": "Schließen",
  "common.loadMore": "Mehr laden",
  "common.loading": "Wird geladen…",
  "common.optional": "(optional)",
  "common.refresh": "Aktualisieren",
  "common.yes": "Ja",
  "language.choose": "Sprache",

  // Who one is
  "welcome.title": "Wer bist du heute?",
  "welcome.about":
    "Das ist eine Demo ohne Passwörter. Such dir jemanden aus, öffne dann ein zweites " +
    "Fenster als jemand anderes, und unterhalte dich mit dir selbst.",
  "banned.title": "Du bist gesperrt",
  "banned.window": "Gesperrt · {name}",
  "banned.words":
    "{name} ist von der Moderation aus diesem Chat ausgeschlossen worden. Bis das endet, " +
    "kann nichts gelesen oder geschrieben werden.",
  "me.name": "Du bist",
  "me.switch": "Wechseln",
  "me.switchTo": "Zu jemand anderem wechseln",

  // The frame
  "frame.overview": "Übersicht",
  "frame.back": "Zurück",
  "frame.backToList": "Zurück zu den Unterhaltungen",
  "connection.label": "Verbindung",
  "connection.now": "Jetzt versuchen",
  "nothing.label": "Keine Unterhaltung ist geöffnet",
  "nothing.title": "Wähle eine Unterhaltung",
  "nothing.about": "Zum Chatten gehören zwei:",
  "presence.online": "Online",

  // The list of conversations, and the search
  "list.label": "Unterhaltungen",
  "direct.new": "Neue Nachricht",
  "search.label": "Nachrichten durchsuchen",
  "search.close": "Suche schließen",
  "search.here": "In dieser Unterhaltung suchen",
  "search.results": "Suchergebnisse",

  // A conversation, and a thread
  "timeline.label": "Nachrichten",
  "thread.title": "Thread",
  "thread.close": "Thread schließen",
  "thread.messages": "Nachrichten des Threads",
  "thread.message": "Nachricht im Thread",
  "thread.also": "Auch in die Unterhaltung senden",

  // Where one writes
  "composer.message": "Nachricht",
  "composer.people": "Personen zum Erwähnen",
  "composer.cancel": "Abbrechen (Esc)",
  "composer.pickEmoji": "Emoji auswählen",
  "composer.send": "Senden",
  "composer.sendKey": "Senden (Enter)",
  "emoji.title": "Emoji",
  "emoji.add": "Hinzufügen",
  "emoji.all": "Alle Emoji",
  "emoji.search": "Emoji suchen",
  "emoji.searchOrOther": "Suchen, oder ein anderes Emoji",

  // A message
  "message.actions": "Aktionen",
  "message.more": "Weitere Aktionen",
};
