/**
 * A browser client of a chat_aio service: its requests and its live stream.
 *
 *   import { Chat } from "./chat.js";
 *
 *   const chat = new Chat({ baseUrl: "/api/chat" });
 *   const { conversations, nextCursor } = await chat.listConversations();
 *   const stream = chat.openStream({ onEvent: (event) => console.log(event.type, event) });
 *
 * It has no dependency and knows nothing of a page. Results are the service's JSON as it is;
 * a request that fails rejects with a ChatError. Who is calling is the host's business, by cookie
 * as a rule; `prepareUrl` can add to an address, and `fetch` to a request, what the host needs.
 * `onError` hears of every failure, also where something else deals with it: one may be banned.
 */

import { Moderation } from "./moderation.js";
import { ChatStream } from "./stream.js";

export { ChatStream };

const TIMEOUT_MS = 20_000;

/** What the service refused (`code` and `message` are its own), or that it was not reached. */
export class ChatError extends Error {
  constructor({ status, code, message, retryAfter = null }) {
    super(message);
    this.name = "ChatError";
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later; a send then needs the same clientMessageId. */
  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export class Chat {
  #baseUrl;
  #prepareUrl;
  #fetch;
  #timeoutMs;
  #onError;

  constructor({
    baseUrl = "/api/chat",
    prepareUrl = (url) => url,
    fetch = (url, options) => globalThis.fetch(url, options),
    timeoutMs = TIMEOUT_MS,
    onError = () => {},
  } = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#prepareUrl = prepareUrl;
    this.#fetch = fetch;
    this.#timeoutMs = timeoutMs;
    this.#onError = onError;
    this.moderation = new Moderation((...request) => this.#request(...request));
  }

  /** A page of {conversations, nextCursor}, most recently active first. */
  listConversations({ limit, cursor } = {}) {
    return this.#get("/conversations", { limit, cursor });
  }

  async getConversation(conversationId) {
    return (await this.#get(placeOf(conversationId))).conversation;
  }

  /** The direct conversation with someone; the same one however often this is called. */
  async openDirect(otherUserId) {
    return (await this.#post("/conversations", { otherUserId })).conversation;
  }

  /** `group` is {name?, userIds?, visibility?, joinPolicy?, metadata?}. */
  async createGroup(group = {}) {
    return (await this.#post("/conversations/group", group)).conversation;
  }

  /** `changed` is {name?, visibility?, joinPolicy?}; a name that is null is cleared. */
  async updateConversation(conversationId, changed) {
    const path = placeOf(conversationId);
    return (await this.#request("PATCH", path, { body: changed })).conversation;
  }

  async addParticipants(conversationId, userIds) {
    return (await this.#post(placeOf(conversationId, "participants"), { userIds })).conversation;
  }

  /** One's own id: leave. */
  async removeParticipant(conversationId, userId) {
    const path = placeOf(conversationId, "participants");
    return (await this.#request("DELETE", path, { body: { userId } })).conversation;
  }

  /** `role` is "admin" or "member". */
  async setParticipantRole(conversationId, userId, role) {
    const path = placeOf(conversationId, "participants");
    return (await this.#request("PATCH", path, { body: { userId, role } })).conversation;
  }

  /** `terms` are {expiresInSeconds?, maxUses?, requiresApproval?, metadata?}. */
  async createInvite(conversationId, terms = {}) {
    return (await this.#post(placeOf(conversationId, "invites"), terms)).invite;
  }

  /** All {invites}, newest first. */
  listInvites(conversationId) {
    return this.#get(placeOf(conversationId, "invites"));
  }

  revokeInvite(conversationId, code) {
    return this.#request("DELETE", placeOf(conversationId, "invites", code), {});
  }

  /** What a link leads to, before one follows it. */
  async previewInvite(code) {
    return (await this.#get(`/invites/${segment(code)}`)).invite;
  }

  /** Resolves to {status, conversation, joinRequest}: "joined", or "pending" and to be approved. */
  acceptInvite(code, { message } = {}) {
    return this.#post(`/invites/${segment(code)}/accept`, { message });
  }

  async requestToJoin(conversationId, { message } = {}) {
    return (await this.#post(placeOf(conversationId, "join-requests"), { message })).joinRequest;
  }

  /** A page of {joinRequests, nextCursor}, newest first; pending ones unless `status` is given. */
  listJoinRequests(conversationId, { status, limit, cursor } = {}) {
    return this.#get(placeOf(conversationId, "join-requests"), { status, limit, cursor });
  }

  /** `decision` is "approve" or "deny"; resolves to {joinRequest, conversation}. */
  resolveJoinRequest(conversationId, userId, decision) {
    const path = placeOf(conversationId, "join-requests");
    return this.#request("PATCH", path, { body: { userId, decision } });
  }

  /** A page of {channels, nextCursor}: the public groups, most recently active first. */
  listChannels({ limit, cursor } = {}) {
    return this.#get("/channels", { limit, cursor });
  }

  /** Join a channel, or ask to; resolves as acceptInvite does. */
  join(conversationId, { message } = {}) {
    return this.#post(placeOf(conversationId, "join"), { message });
  }

  /** A page of {messages, nextCursor}, newest first. */
  listMessages(conversationId, { limit, cursor } = {}) {
    return this.#get(placeOf(conversationId, "messages"), { limit, cursor });
  }

  async getMessage(conversationId, messageId) {
    const path = placeOf(conversationId, "messages", messageId);
    return (await this.#get(path)).message;
  }

  /** `draft` is {body, clientMessageId, ...}. Repeating it with the same key sends it once. */
  async sendMessage(conversationId, draft) {
    return (await this.#post(placeOf(conversationId, "messages"), draft)).message;
  }

  /** A page of {messages, nextCursor} of a thread, newest first, without its root. */
  listThread(conversationId, rootId, { limit, cursor } = {}) {
    const path = placeOf(conversationId, "threads", rootId, "messages");
    return this.#get(path, { limit, cursor });
  }

  /** A page of {messages, nextCursor}, the most relevant first; of one conversation, or of all. */
  searchMessages(q, { conversationId, limit, cursor } = {}) {
    return this.#get("/search/messages", { q, conversationId, limit, cursor });
  }

  /** `changed` is {body, mentions}; without `mentions` they stay as they are. */
  async editMessage(messageId, changed) {
    return (await this.#request("PATCH", pathOf(messageId), { body: changed })).message;
  }

  /** Resolves to what is left in its place. */
  async deleteMessage(messageId) {
    return (await this.#request("DELETE", pathOf(messageId), {})).message;
  }

  /** `target` is {conversationId, clientMessageId, ...}; resolves to the new message there. */
  async forwardMessage(messageId, target) {
    return (await this.#post(`${pathOf(messageId)}/forward`, target)).message;
  }

  async addReaction(messageId, emoji) {
    return (await this.#post(`${pathOf(messageId)}/reactions`, { emoji })).message;
  }

  async removeReaction(messageId, emoji) {
    const path = `${pathOf(messageId)}/reactions`;
    return (await this.#request("DELETE", path, { body: { emoji } })).message;
  }

  markRead(conversationId, messageId) {
    return this.#post(placeOf(conversationId, "read"), { messageId });
  }

  /** While one writes, every three seconds at most; `false` tells at once that one has stopped. */
  setTyping(conversationId, isTyping = true) {
    return this.#post(placeOf(conversationId, "typing"), { isTyping });
  }

  /** {online, lastSeenAt} by user id, of those one shares a conversation with; at most 50 ids. */
  async getPresence(userIds) {
    return (await this.#get("/presence", { userIds: userIds.join(",") })).presence;
  }

  /** The live stream of the acting user: see ChatStream for the handlers. */
  openStream(handlers) {
    return new ChatStream((lastEventId) => this.#urlOf("/stream", { lastEventId }), handlers);
  }

  #get(path, query) {
    return this.#request("GET", path, { query });
  }

  #post(path, body) {
    return this.#request("POST", path, { body });
  }

  async #request(...request) {
    try {
      return await this.#answerTo(...request);
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }

  async #answerTo(method, path, { query, body }) {
    const options = { method, signal: AbortSignal.timeout(this.#timeoutMs) };
    if (body !== undefined) {
      options.headers = { "Content-Type": "application/json" };
      options.body = JSON.stringify(body);
    }
    let response;
    let answer;
    try {
      response = await this.#fetch(this.#urlOf(path, query), options);
      answer = await response.json().catch((error) => notJson(error));
    } catch {
      throw new ChatError({ status: 0, code: "UNREACHABLE", message: "The chat is out of reach." });
    }
    if (!response.ok || answer === null) throw errorFrom(response, answer);
    return answer;
  }

  #urlOf(path, query = {}) {
    const url = new URL(this.#baseUrl + path, globalThis.location?.href);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, value);
    }
    return this.#prepareUrl(url);
  }
}

/** A new idempotency key; also where the page is not served over HTTPS (no crypto.randomUUID). */
export function newClientMessageId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function segment(id) {
  return encodeURIComponent(id);
}

function placeOf(conversationId, ...parts) {
  return ["/conversations", ...[conversationId, ...parts].map(segment)].join("/");
}

function pathOf(messageId) {
  return `/messages/${segment(messageId)}`;
}

/** A proxy's error page is an answer that is not JSON; a connection that broke is no answer. */
function notJson(error) {
  if (error instanceof SyntaxError) return null;
  throw error;
}

function errorFrom(response, answer) {
  const { code = "UNEXPECTED_ANSWER", message = response.statusText } = answer?.error ?? {};
  const status = response.ok ? 502 : response.status;
  return new ChatError({ status, code, message, retryAfter: response.headers.get("Retry-After") });
}
