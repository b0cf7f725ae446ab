// @ts-check
/**
 * One stream for all tabs of a browser that have the same service, user and credentials. The tab that
 * holds a Web Lock, the leader, reads the stream and passes it on over a BroadcastChannel; the others
 * wait for the lock. docs/project/decisions/0089-one-stream-for-tabs.md has the reasons.
 */

/** How long a leader may take to answer. */
const ANSWER_MS = 4_000;
const INTERVAL_MS = 15_000;
const MISSED_INTERVALS = 3;

/**
 * What a connection passes on. An open one has resumed `from` a position, or `isBlind`, without any.
 *
 * @typedef {{type: "open", from: string | null, isBlind: boolean}} OpenFrame
 * @typedef {{type: "event", name: string, data: string, lastEventId: string}} EventFrame
 * @typedef {OpenFrame | EventFrame | {type: "reconnecting" | "signedOut" | "ended"} |
 *   {type: "refused", status?: number}} Frame
 * @typedef {{userId: string, position: () => string | null,
 *   deliver: (frame: Frame) => void}} Tab
 * @typedef {{close: () => void, reconnect: () => void, signOut: () => void}} Connection
 * @typedef {{login: unknown[], stream: unknown[]}} Group  credentials, and a stream with these
 */

/** Pages without HTTPS have no `crypto.subtle`; without a document there are no tabs. */
export function canShare() {
  const { navigator, BroadcastChannel, crypto, document } = globalThis;
  return Boolean(navigator?.locks && BroadcastChannel && crypto?.subtle && document);
}

export class SharedConnection {
  /** @type {Tab} */
  #tab;
  #connect;
  #groupOf;
  #id = crypto.randomUUID();
  /** Counts joins and leaves: callbacks of an earlier membership do nothing. */
  #memberships = 0;
  #name = "";
  /** @type {BroadcastChannel | null} */
  #channel = null;
  /** @type {BroadcastChannel | null} */
  #logins = null;
  #waiting = new AbortController();
  #release = () => {};
  /** The leader's connection.
   * @type {Connection | null} */
  #own = null;
  /** The term of the newest leader: each leader has a higher one than those before. */
  #term = 0;
  /** The number of the latest message in this term. */
  #number = 0;
  /** Whether the stream is open, and whether this tab has received all of it since then. */
  #isLive = false;
  #isInStep = false;
  /** The latest heartbeat.
   * @type {EventFrame | null} */
  #ping = null;
  #intervalMs = INTERVAL_MS;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #watch;
  /** The event at which this tab returns, if it has left.
   * @type {string | null} */
  #returnsAt = null;
  #listening = new AbortController();

  /** `connect(tab)` opens a stream; `groupOf()` resolves to what the tabs must have in common.
   * @param {Tab} tab
   * @param {{connect: (tab: Tab) => Connection, groupOf: () => Promise<Group>}} needs */
  constructor(tab, { connect, groupOf }) {
    this.#tab = tab;
    this.#connect = connect;
    this.#groupOf = groupOf;
    const { signal } = this.#listening;
    // A page that is stopped can pass nothing on, and browsers stop few pages that hold a lock.
    addEventListener("pagehide", () => this.#pause("pageshow"), { signal });
    addEventListener("pageshow", () => this.#resume("pageshow"), { signal });
    document.addEventListener("freeze", () => this.#pause("resume"), { signal });
    document.addEventListener("resume", () => this.#resume("resume"), { signal });
    this.#join();
  }

  /** Try again now, whichever tab leads. */
  reconnect() {
    if (this.#own) this.#own.reconnect();
    else this.#post({ isReconnect: true });
  }

  close() {
    this.#listening.abort();
    this.#leave();
  }

  /** The user has logged out, in all tabs. */
  signOut() {
    this.#logins?.postMessage({ userId: null });
    this.#end();
  }

  /** A request was refused with 401. */
  doubtLogin() {
    this.#logins?.postMessage({ userId: null, isDoubt: true });
    this.#confirmLogin();
  }

  async #join() {
    // A listener may have closed it.
    if (this.#listening.signal.aborted) return;
    const membership = (this.#memberships += 1);
    try {
      const { login, stream } = await this.#names();
      if (membership !== this.#memberships) return;
      this.#name = stream;
      this.#logins = new BroadcastChannel(login);
      this.#logins.onmessage = ({ data }) => this.#receiveLogin(data);
      this.#channel = new BroadcastChannel(stream);
      this.#channel.onmessage = ({ data }) => this.#receive(data);
      this.#request();
      this.#ask();
    } catch {
      if (membership === this.#memberships) this.#beAlone();
    }
  }

  #leave() {
    this.#memberships += 1;
    clearTimeout(this.#watch);
    this.#waiting.abort();
    this.#logins?.close();
    this.#channel?.close();
    this.#logins = this.#channel = null;
    this.#isLive = this.#isInStep = false;
    this.#stepDown();
  }

  /** The fallback: a stream for this tab. */
  #beAlone() {
    this.#leave();
    this.#own = this.#connect(this.#tab);
  }

  /** @param {string} event  at which it resumes */
  #pause(event) {
    if (this.#returnsAt) return;
    this.#returnsAt = event;
    this.#leave();
  }

  /** @param {string} event */
  #resume(event) {
    if (event !== this.#returnsAt) return;
    this.#returnsAt = null;
    this.#tab.deliver({ type: "reconnecting" });
    this.#join();
  }

  /** Wait for the lock, or take it.
   * @param {LockOptions} [how] */
  #request(how) {
    const membership = this.#memberships;
    /** @type {Connection | null} */
    let own = null;
    this.#waiting = new AbortController();
    const holding = () =>
      /** @type {Promise<void>} */ (
        new Promise((release) => {
          if (membership !== this.#memberships) return release();
          this.#release = release;
          own = this.#lead();
        })
      );
    const options = how ?? { signal: this.#waiting.signal };
    navigator.locks.request(this.#name, options, holding).catch(({ name }) => {
      if (membership !== this.#memberships) return;
      if (name !== "AbortError") this.#beAlone();
      else if (own && own === this.#own) this.#follow();
    });
  }

  #lead() {
    clearTimeout(this.#watch);
    this.#isLive = false;
    const after = { term: this.#term, number: this.#number };
    this.#term = Math.max(this.#term + 1, Date.now());
    this.#number = 0;
    this.#post({ term: this.#term, number: 0, after, frames: [] });
    const deliver = (/** @type {Frame} */ frame) => this.#relay(frame);
    this.#own = this.#connect({ ...this.#tab, deliver });
    return this.#own;
  }

  #stepDown() {
    this.#own?.close();
    this.#own = null;
    this.#release();
  }

  /** Another tab leads now. */
  #follow() {
    this.#stepDown();
    this.#request();
    this.#expect();
  }

  /** Take a frame of the leader's connection.
   * @param {Frame} frame */
  #relay(frame) {
    this.#number += 1;
    this.#post({ term: this.#term, number: this.#number, frames: [frame] });
    this.#reportLogin(frame);
    this.#deliver([frame]);
  }

  /** @param {Connection} own */
  #reconnectNow(own) {
    this.#relay({ type: "reconnecting" });
    own.reconnect();
  }

  /** The service has confirmed the user, or refused them.
   * @param {Frame} frame */
  #reportLogin(frame) {
    if (frame.type === "refused" && frame.status === 401) this.doubtLogin();
    if (frame.type !== "event" || frame.name !== "stream.opened") return;
    this.#logins?.postMessage({ userId: this.#tab.userId });
  }

  /** @param {any} message */
  #receive({ userId, ask, isReconnect, ...message }) {
    if (userId !== this.#tab.userId) return;
    if (ask) this.#answer(ask);
    else if (isReconnect && !this.#isLive) this.#own?.reconnect();
    else if (message.term >= this.#term) this.#receiveFrames(message);
  }

  /** @param {any} message */
  #receiveFrames({ term, number, after, to, frames }) {
    if (this.#own) this.#follow();
    const isForAll = to === undefined;
    if (!isForAll && (to !== this.#id || this.#isInStep)) return this.#expect();
    const isLate = isForAll && this.#isInStep && !this.#isNext({ term, number, after });
    if (isLate) this.#isInStep = false;
    [this.#term, this.#number] = [term, number];
    this.#deliver(frames);
    if (isLate) this.#ask();
    else this.#expect();
  }

  /** Whether this tab has missed nothing before a message for all tabs.
   * @param {{term: number, number: number, after: any}} message */
  #isNext({ term, number, after }) {
    if (term === this.#term) return number === this.#number + 1;
    return number === 0 && this.#hasReceived(after);
  }

  /** Whether this tab has received all that a new leader had received, which goes on from there.
   * @param {{term: number, number: number}} message */
  #hasReceived({ term, number }) {
    return term < this.#term || (term === this.#term && number <= this.#number);
  }

  /** @param {{id: string, isInStep: boolean, isSilent: boolean}} member */
  #answer({ id, isInStep, isSilent }) {
    if (!this.#own) return;
    // The timers of a tab in the background are late.
    if (isSilent) this.#reconnectNow(this.#own);
    /** @type {Frame[]} */
    const opening = [{ type: "open", from: null, isBlind: true }];
    // The heartbeat shows the position.
    if (this.#ping) opening.push(this.#ping);
    const frames = this.#isLive && !isInStep ? opening : [];
    this.#post({ term: this.#term, number: this.#number, to: id, frames });
  }

  /** @param {Frame[]} frames */
  #deliver(frames) {
    for (const received of frames) {
      try {
        const frame = this.#taken(received);
        if (frame && this.#channel) this.#tab.deliver(frame);
      } catch (error) {
        reportError(error);
      }
    }
  }

  /** The frame as it is for this tab; null: it is of no use without those before.
   * @param {Frame} frame @returns {Frame | null} */
  #taken(frame) {
    if (frame.type === "event") {
      if (!this.#isInStep) return null;
      if (frame.name === "stream.ping") this.#noteHeartbeat(frame);
      return frame;
    }
    this.#isLive = frame.type === "open";
    if (frame.type === "signedOut") this.#isInStep = false;
    if (frame.type !== "open" || this.#own || this.#isInStep) {
      this.#isInStep ||= this.#isLive;
      return frame;
    }
    // This tab was away: the stream is complete for it only if it resumed at the tab's position.
    this.#isInStep = true;
    const isBlind = frame.from === null || frame.from !== this.#tab.position();
    return { ...frame, isBlind };
  }

  /** @param {EventFrame} ping */
  #noteHeartbeat(ping) {
    this.#ping = ping;
    this.#intervalMs = JSON.parse(ping.data).intervalMs;
  }

  /** A leader that is stopped keeps its lock: after too long a silence this tab queries it, and
   * then replaces it. */
  #expect() {
    clearTimeout(this.#watch);
    if (this.#own || !this.#channel) return;
    this.#watch = setTimeout(() => this.#ask(true), spread(MISSED_INTERVALS * this.#intervalMs));
  }

  /** @param {boolean} [isSilent]  whether the stream was silent for too long */
  #ask(isSilent = false) {
    clearTimeout(this.#watch);
    if (!this.#channel) return;
    this.#post({ ask: { id: this.#id, isInStep: this.#isInStep, isSilent } });
    this.#watch = setTimeout(() => {
      this.#waiting.abort();
      this.#request({ steal: true });
    }, spread(ANSWER_MS));
  }

  /** @param {{userId: string | null, isDoubt?: boolean}} login */
  #receiveLogin({ userId, isDoubt }) {
    if (isDoubt) this.#confirmLogin();
    else if (userId !== this.#tab.userId) this.#end();
  }

  /** A refused token may have been replaced in the meantime: then the login goes on. */
  async #confirmLogin() {
    const membership = this.#memberships;
    const names = await this.#names().catch(() => null);
    if (membership !== this.#memberships || !this.#channel) return;
    if (names === null || names.stream === this.#name) return this.#end();
    this.#leave();
    this.#join();
  }

  /** The login is over. The stream is tried again, in case the user logs in again. */
  #end() {
    if (this.#own) this.#own.signOut();
    else this.#deliver([{ type: "signedOut" }]);
  }

  async #names() {
    const { login, stream } = await this.#groupOf();
    return { login: await hashOf(login), stream: await hashOf(stream) };
  }

  /** @param {object} message */
  #post(message) {
    this.#channel?.postMessage({ userId: this.#tab.userId, ...message });
  }
}

/** Randomly longer, so that not all tabs do the same at once.
 * @param {number} ms */
function spread(ms) {
  return ms * (1 + Math.random());
}

/** @param {unknown[]} parts */
async function hashOf(parts) {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `chat-aio:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
