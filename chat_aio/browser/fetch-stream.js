// @ts-check
/** Server-sent events over `fetch`, which can send headers: as much of EventSource as chat.js needs. */

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 2;

/** One answer. It does not reconnect: then it is `CLOSED`, and `isBroken` unless it was refused. */
export class FetchSource extends EventTarget {
  readyState = CONNECTING;
  /** Of the answer; 0: there was none. */
  status = 0;
  isBroken = false;
  #parser = new EventParser();
  #closing = new AbortController();

  /** @param {URL} url @param {RequestInit & {fetch?: typeof fetch}} options */
  constructor(url, { fetch = (...given) => globalThis.fetch(...given), ...options }) {
    super();
    const { signal } = this.#closing;
    this.#read(() => fetch(url, { ...options, cache: "no-store", signal }));
  }

  /** The pause before the next connection that the service requires. */
  get retryMs() {
    return this.#parser.retryMs;
  }

  close() {
    this.readyState = CLOSED;
    this.#closing.abort();
  }

  /** @param {() => Promise<Response>} request */
  async #read(request) {
    let isRefused = false;
    try {
      const { body, headers, status } = await request();
      this.status = status;
      isRefused = status !== 200 || !headers.get("Content-Type")?.startsWith("text/event-stream");
      if (body && !isRefused) await this.#receive(body);
    } catch {
      // It broke, or was closed.
    }
    if (this.readyState === CLOSED) return;
    this.isBroken = !isRefused;
    this.close();
    this.dispatchEvent(new Event("error"));
  }

  /** @param {ReadableStream<Uint8Array>} body */
  async #receive(body) {
    this.readyState = OPEN;
    this.dispatchEvent(new Event("open"));
    const reader = body.getReader();
    const decoder = new TextDecoder();
    while (this.readyState === OPEN) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { type, ...given } of this.#parser.push(decoder.decode(value, { stream: true }))) {
        // A listener may have closed it.
        if (this.readyState === OPEN) this.dispatchEvent(new MessageEvent(type, given));
      }
    }
  }
}

/** Parses an event stream, as HTML defines it, in parts of any size. */
export class EventParser {
  /** The `retry` field. */
  retryMs = 0;
  #rest = "";
  #isAfterReturn = false;
  /** @type {string[]} */
  #data = [];
  #type = "";
  #lastEventId = "";

  /** The events that this part of the text completes.
   * @param {string} part @returns {{type: string, data: string, lastEventId: string}[]} */
  push(part) {
    if (part === "") return [];
    // The two characters of a line end may be in two parts.
    const text = this.#isAfterReturn && part.startsWith("\n") ? part.slice(1) : part;
    this.#isAfterReturn = part.endsWith("\r");
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => (line === "" ? this.#end() : this.#add(line)));
  }

  #end() {
    const given = { type: this.#type || "message", data: this.#data.join("\n") };
    const isEvent = this.#data.length > 0;
    [this.#data, this.#type] = [[], ""];
    return isEvent ? [{ ...given, lastEventId: this.#lastEventId }] : [];
  }

  /** @param {string} line @returns {never[]} */
  #add(line) {
    const [, name, value = ""] = /** @type {string[]} */ (/^([^:]*)(?:: ?(.*))?$/su.exec(line));
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#lastEventId = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }
}
