/** Keyboard navigation in a log of messages. */

/**
 * Up and down move between messages; Tab then moves to a message's actions. The log has `data-keys`
 * from there on until the mouse moves: the place of the pointer does not count then.
 */
export function enableKeys(log) {
  const move = (from, step) => {
    const messages = [...log.querySelectorAll(".message")];
    const index = from === log ? messages.length : messages.indexOf(from);
    messages.at(Math.max(0, index + step))?.focus();
  };
  log.addEventListener("keydown", (event) => {
    const { target, key } = event;
    log.setAttribute("data-keys", "");
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (key === "Escape" && target !== log) log.focus();
    else if (step && (target === log || target.matches(".message"))) move(target, step);
    else return;
    event.preventDefault();
  });
  log.addEventListener("focusin", ({ target }) => {
    const isMeant = target.matches(":focus-visible") || matchMedia("(hover: none)").matches;
    if (!isMeant) return;
    target.closest(".message")?.setAttribute("data-focused", "");
    log.setAttribute("data-keys", "");
  });
  log.addEventListener("pointermove", ({ pointerType, target }) => {
    const isMouse = pointerType === "mouse" && matchMedia("(hover: hover)").matches;
    if (!isMouse || !log.hasAttribute("data-keys")) return;
    // The buttons of another message are hidden then: its row keeps the focus.
    const row = log.querySelector(".toolbar :focus")?.closest(".message");
    if (row && !row.contains(target)) row.focus({ preventScroll: true });
    log.removeAttribute("data-keys");
  });
  // Not by :focus-within: between two buttons nothing has the focus, and hidden ones get none.
  log.addEventListener("focusout", ({ target, relatedTarget }) => {
    const row = target.closest(".message");
    if (!row?.contains(relatedTarget)) row?.removeAttribute("data-focused");
  });
}
