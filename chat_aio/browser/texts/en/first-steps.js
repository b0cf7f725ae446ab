/** Texts for first-time users. */

export const firstSteps = {
  "steps.title": "First steps",
  "steps.tour": "Read the tour.",
  "steps.window": "Open a second window as {name}.",
  "steps.write": "Write to {name}, and see it arrive there at once.",
  "steps.mount": "Mount the chat in your app.",
  "steps.hide": "Hide these steps",
};
