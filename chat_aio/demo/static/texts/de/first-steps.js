/** What somebody reads who is here for the first time. */

export const firstSteps = {
  "steps.title": "Die ersten Schritte",
  "steps.window": "Öffne ein zweites Fenster als {name}.",
  "steps.write": "Schreib {name}, und sieh zu, wie es dort sofort ankommt.",
  "steps.mount": "Setze den Chat in deine App ein.",
  "steps.hide": "Diese Schritte ausblenden",
};
