/** Files that are pasted or dropped somewhere on a page. */

/**
 * `add(files)` is called with pasted and dropped files, in place of the browser's default, and
 * `drag(isOver)` while files are held over `target`. Cells of a table come as text with a picture of
 * it: of the pasted types, text is meant.
 */
export function takeFiles(target, add, drag = () => {}) {
  const take = (event, given) => {
    if (!given?.files.length) return;
    event.preventDefault();
    add(given.files);
  };
  target.addEventListener("paste", (event) => {
    const given = event.clipboardData;
    if (!given?.types.includes("text/plain")) take(event, given);
  });
  target.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    drag(true);
  });
  target.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!target.contains(relatedTarget)) drag(false);
  });
  target.addEventListener("drop", (event) => {
    drag(false);
    take(event, event.dataTransfer);
  });
}

/** Files that are dropped elsewhere do not take the place of the page. */
export function keepPage() {
  for (const name of ["dragover", "drop"]) {
    addEventListener(name, (event) => {
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}

function hasFiles({ dataTransfer }) {
  return dataTransfer?.types.includes("Files");
}
