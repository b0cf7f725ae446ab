/** The words of a chat whose texts cannot be loaded. */

export const unloaded = {
  "common.again": "Try again",
  "loading.failed": "Part of the chat could not be loaded. If it fails again, reload the page.",
};
