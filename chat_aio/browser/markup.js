/** The blocks of a message: paragraphs as they were written, code, quotes and lists. No DOM. */

const FENCE = /^```[\w+#.-]*\s*$/u;
const QUOTED = /^>(?: |$)/u;
const ITEM = /^(?:[-*]|(\d{1,9})[.)]) +(?=\S)/u;

/**
 * The blocks of a text: {kind: "text" or "quote", text}, {kind: "code", text}, or {kind: "list",
 * items}, whose items are {number, text} (number: null for a bullet). A text without any is one.
 */
export function blocksOf(text) {
  const lines = text.split("\n");
  const lastFence = lines.findLastIndex((line) => line.trimEnd() === "```");
  const blocks = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (FENCE.test(line) && index < lastFence) {
      let end = index + 1;
      while (lines[end].trimEnd() !== "```") end += 1;
      blocks.push({ kind: "code", lines: lines.slice(index + 1, end) });
      index = end;
    } else {
      addLine(blocks, line);
    }
  }
  return blocks.length === 1 ? blocks.map(finished) : blocks.map(trimmed).filter(Boolean);
}

/** A line joins the block above it if it is of the same kind. */
function addLine(blocks, line) {
  const item = ITEM.exec(line);
  const isQuoted = QUOTED.test(line);
  const kind = item ? "list" : isQuoted ? "quote" : "text";
  const isNumbered = Boolean(item?.[1]);
  const last = blocks.at(-1);
  const joins = last?.kind === kind && (kind !== "list" || last.isNumbered === isNumbered);
  const block = joins ? last : { kind, isNumbered, lines: [] };
  if (!joins) blocks.push(block);
  const begun = item?.[0].length ?? (isQuoted ? 2 : 0);
  block.lines.push({ text: line.slice(begun), number: item?.[1] ? Number(item[1]) : null });
}

function finished({ kind, lines }) {
  if (kind === "list") return { kind, items: lines };
  return { kind, text: lines.map((line) => line.text ?? line).join("\n") };
}

/** Between blocks there is room anyway: the empty line that one leaves there is not shown. */
function trimmed(block) {
  if (block.kind !== "text") return finished(block);
  const { text } = finished(block);
  const isBlank = text.trim() === "";
  return isBlank ? null : { kind: "text", text: text.replace(/^\n|\n$/gu, "") };
}
