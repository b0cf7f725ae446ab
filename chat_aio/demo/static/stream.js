/**
 * The live stream of a chat_aio service, over EventSource.
 *
 * EventSource reconnects by itself and sends the Last-Event-ID that it has seen, so the service
 * tells what was missed. It gives up on any answer but 200; then this opens a new one, after a
 * pause that grows, and names the position in the query string (`lastEventId`).
 *
 * Handlers, all optional:
 *   onEvent(event)    the data of one event: {type: "message.created", conversationId, message};
 *                     a message's created event comes once, also when the service repeats it
 *   onOpen()          the stream is (re)open: events without an id are not repeated, and neither
 *                     is anything older than the service keeps, so refetch what is on the screen
 *   onRefused()       the service answered with something else than a stream; EventSource does not
 *                     show it, but the answer to any request may tell why
 *   onStatus(status)  "connecting", "live", "reconnecting" or "closed"
 */

export const EVENT_TYPES = [
  "message.created", "message.updated", "message.deleted",
  "reaction.added", "reaction.removed",
  "participant.added", "participant.removed",
  "conversation.created", "conversation.updated",
  "join_request.created", "join_request.resolved",
  "read.updated", "stream.reset",
  "typing.started", "typing.stopped",
  "presence.online", "presence.offline",
  "receipt.delivered", "receipt.read",
];

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const REMEMBERED_MESSAGES = 2_000;

export class ChatStream {
  #handlers;
  #urlFrom;
  #EventSource;
  #source = null;
  #timer = null;
  #failures = 0;
  #lastEventId = null;
  #seen = new Set();
  #status = null;

  /** `urlFrom(lastEventId)` makes the address; `lastEventId` is null at first. */
  constructor(urlFrom, handlers = {}, EventSourceClass = globalThis.EventSource) {
    this.#urlFrom = urlFrom;
    this.#handlers = handlers;
    this.#EventSource = EventSourceClass;
    this.#tell("connecting");
    this.#connect();
  }

  get status() {
    return this.#status;
  }

  /** Try again now instead of after the pause, e.g. when the network is back. */
  reconnect() {
    if (this.#status === "reconnecting") this.#connect();
  }

  close() {
    this.#drop();
    this.#tell("closed");
  }

  #connect() {
    this.#drop();
    const source = new this.#EventSource(this.#urlFrom(this.#lastEventId));
    source.addEventListener("open", () => this.#opened());
    source.addEventListener("error", () => this.#failed(source));
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, (event) => this.#received(type, event));
    }
    this.#source = source;
  }

  #drop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #opened() {
    this.#failures = 0;
    this.#tell("live");
    this.#handlers.onOpen?.();
  }

  #failed(source) {
    this.#tell("reconnecting");
    if (source.readyState !== this.#EventSource.CLOSED) return;
    this.#handlers.onRefused?.();
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    // Half of it is random, so that many clients do not come back in the same moment.
    this.#timer = setTimeout(() => this.#connect(), pause * (0.5 + Math.random() / 2));
  }

  #received(type, { data, lastEventId }) {
    // An edit carries the id of its message, which may be old: resuming there would repeat much.
    // EventSource does not show the frame that follows it with the newest position; an older
    // position repeats some events, and loses none.
    if (lastEventId && type !== "message.updated" && type !== "message.deleted") {
      this.#lastEventId = lastEventId;
    }
    const event = JSON.parse(data);
    if (type === "message.created" && !this.#isNew(event.message.id)) return;
    this.#handlers.onEvent?.(event);
  }

  #isNew(messageId) {
    if (this.#seen.has(messageId)) return false;
    this.#seen.add(messageId);
    // A Set keeps the order of insertion: the first one is the oldest.
    if (this.#seen.size > REMEMBERED_MESSAGES) this.#seen.delete(this.#seen.values().next().value);
    return true;
  }

  #tell(status) {
    if (status === this.#status) return;
    this.#status = status;
    this.#handlers.onStatus?.(status);
  }
}
