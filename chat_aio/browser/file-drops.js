/** Files that are pasted or dropped somewhere on a page. */

/**
 * `add(files)` is called with pasted and dropped files, in place of the browser's default.
 * Cells of a table come as text with a picture of it: of the pasted types, text is meant.
 */
export function takeFiles(target, add) {
  const take = (event, given) => {
    if (!given?.files.length) return;
    event.preventDefault();
    add(given.files);
  };
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  target.addEventListener("paste", (event) => {
    const given = event.clipboardData;
    if (!given?.types.includes("text/plain")) take(event, given);
  });
  target.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  target.addEventListener("drop", (event) => take(event, event.dataTransfer));
}
