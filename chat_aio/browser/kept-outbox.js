/** Pending and failed messages survive a reload of the tab. No DOM. */

const NAME = "outbox";

/** From now on. `sender` gets the stored messages; with their keys nothing is sent twice. */
export function keepOutbox(store, sender, kept) {
  sender.takeUp((kept.get(NAME) ?? []).map(draftFrom));
  let known = null;
  store.subscribe(() => {
    if (store.outbox === known) return;
    known = store.outbox;
    kept.set(NAME, known.length > 0 ? known.map(rowOf) : null);
  });
}

/** An error as JSON would be without its message. */
function rowOf({ problem, ...draft }) {
  if (!problem) return draft;
  const { status, code, message } = problem;
  return { ...draft, problem: { status, code, message } };
}

/** A pending message may have reached the service or not: it is sent again. */
function draftFrom(row) {
  return row.state === "pending" ? { ...row, state: "waiting" } : row;
}
