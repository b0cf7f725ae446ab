/** Errors of the service, by code. */

export const problems = {
  "slowMode.wait": {
    one: "Langsamer Modus: Versuche es in {count} Sekunde noch einmal.",
    other: "Langsamer Modus: Versuche es in {count} Sekunden noch einmal.",
  },
  "refused.late": "Der Chat hat nicht rechtzeitig geantwortet. Er wird von selbst noch einmal gefragt.",
  "refused.invalid": "Die Eingabe wurde nicht angenommen.",
  "problem.UNREACHABLE": "Der Chat ist nicht erreichbar.",
  "problem.ALREADY_PARTICIPANT": "Du bist schon in dieser Gruppe.",
  "problem.ATTACHMENT_LIMIT_EXCEEDED":
    "Du hast das heutige Limit für Dateien erreicht.",
  "problem.ATTACHMENT_NOT_FOUND": "Diese Datei existiert nicht.",
  "problem.ATTACHMENT_TYPE_UNSUPPORTED": "Dateien dieser Art können hier nicht angehängt werden.",
  "problem.BAN_NOT_FOUND": "Diese Sperre existiert nicht.",
  "problem.CONVERSATION_BANNED":
    "Diese Person ist gesperrt und kann erst wieder beitreten, wenn ein Admin die Sperre aufhebt.",
  "problem.CONVERSATION_FROZEN":
    "Diese Unterhaltung ist eingefroren: Nur ihre Admins können schreiben.",
  "problem.CONVERSATION_NOT_FOUND": "Diese Unterhaltung gibt es nicht.",
  "problem.CREATE_NOT_ALLOWED": "Du kannst diese Unterhaltung nicht beginnen.",
  "problem.DELETE_NOT_ALLOWED": "Du kannst diese Nachricht nicht löschen.",
  "problem.DIRECT_INTERACTION_BLOCKED": "Ihr könnt einander nicht schreiben: Eine Person hat die andere blockiert.",
  "problem.DRAFT_NOT_FOUND": "Diesen Entwurf gibt es nicht oder nicht mehr.",
  "problem.FORBIDDEN_READ": "Du darfst diese Unterhaltung nicht lesen.",
  "problem.FORBIDDEN_WRITE": "Du darfst in dieser Unterhaltung nicht schreiben.",
  "problem.GROUP_LIMIT_EXCEEDED": "Eine Unterhaltung hat höchstens 256 Mitglieder.",
  "problem.HELD_MESSAGE_NOT_FOUND":
    "Diese Nachricht wartet nicht mehr auf Freigabe.",
  "problem.HELD_MESSAGE_RELEASED":
    "Diese Nachricht ist bereits freigegeben.",
  "problem.INTERNAL_ERROR": "Auf unserer Seite ist etwas schiefgegangen.",
  "problem.INVITE_EXPIRED": "Diese Einladung ist abgelaufen oder aufgebraucht.",
  "problem.INVITE_LIMIT_EXCEEDED":
    "Eine Gruppe hat höchstens 50 Einladungen; widerrufe zuerst eine.",
  "problem.INVITE_NOT_FOUND": "Diese Einladung gibt es nicht.",
  "problem.JOIN_REQUEST_NOT_FOUND": "Diese Anfrage ist nicht mehr offen.",
  "problem.LAST_ADMIN_REMAINING":
    "Eine Gruppe braucht mindestens einen Admin; mach zuerst jemand anderen zum Admin.",
  "problem.LEAVE_NOT_ALLOWED": "Du kannst diese Unterhaltung nicht verlassen.",
  "problem.MENTION_NOT_PARTICIPANT": "Nur Mitglieder können erwähnt werden.",
  "problem.MESSAGE_DELETED": "Die Nachricht ist gelöscht.",
  "problem.MESSAGE_NOT_FOUND": "Diese Nachricht gibt es nicht.",
  "problem.MESSAGE_NOT_RESTORABLE":
    "Diese Nachricht lässt sich nicht mehr wiederherstellen.",
  "problem.NOT_CONVERSATION_ADMIN": "Das darf nur ein Admin dieser Unterhaltung.",
  "problem.NOT_MESSAGE_SENDER": "Nur die Absenderin oder der Absender kann eine Nachricht ändern.",
  "problem.NOT_MODERATOR": "Das darf nur die Moderation.",
  "problem.NOT_PUBLIC_CONVERSATION": "Diese Unterhaltung ist kein öffentlicher Kanal.",
  "problem.PAYLOAD_TOO_LARGE": "Das ist zu groß.",
  "problem.PIN_LIMIT_EXCEEDED": "Eine Unterhaltung hat höchstens 50 angeheftete Nachrichten.",
  "problem.RATE_LIMITED": "Zu viele Anfragen. Warte einen Moment.",
  "problem.REACTION_LIMIT_EXCEEDED":
    "Diese Nachricht kann keine weiteren Reaktionen bekommen.",
  "problem.REPORT_NOT_FOUND": "Diese Meldung gibt es nicht.",
  "problem.ROLE_NOT_ALLOWED": "Deine Nachrichten dürfen diese Rolle nicht haben.",
  "problem.STORAGE_UNAVAILABLE":
    "Die Datenbank des Chats ist nicht erreichbar. Versuche es noch einmal.",
  "problem.UNAUTHENTICATED": "Du bist nicht angemeldet.",
  "problem.USER_BANNED": "Du bist gesperrt.",
  "problem.USER_NOT_FOUND": "Diese Person gibt es nicht.",
};
