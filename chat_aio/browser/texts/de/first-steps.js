/** Texts for first-time users. */

export const firstSteps = {
  "steps.title": "Die ersten Schritte",
  "steps.tour": "Mach den Rundgang.",
  "steps.window": "Öffne ein zweites Fenster als {name}.",
  "steps.write": "Schreib {name} eine Nachricht und sieh, wie sie sofort ankommt.",
  "steps.mount": "Binde den Chat in deine App ein.",
  "steps.hide": "Diese Schritte ausblenden",
};
