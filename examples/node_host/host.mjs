// A shop in Node.js with a chat, and without any package (README.md): it logs people in, gives them tokens,
// opens a conversation for each order, receives webhooks, and answers questions about names and permissions.

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { pipeline } from "node:stream";

const { CHAT_URL = "http://127.0.0.1:8080", JWT_KEY, WEBHOOK_SECRET } = process.env;
const { HOST = "127.0.0.1", PORT = "3000" } = process.env;
if (!JWT_KEY || !WEBHOOK_SECRET) throw new Error("set JWT_KEY and WEBHOOK_SECRET");
const PAGE = readFileSync(new URL("page.html", import.meta.url));
const MAX_BYTES = 2 ** 21; // More than any request of the chat.

// In your app, these are tables, with hashes of passwords. Maps have no keys such as "constructor".
const users = new Map([
  ["ann", { name: "Ann Lee", password: "ann-2026" }],
  ["ben", { name: "Ben Okri", password: "ben-2026" }],
]);
const orders = new Map([
  ["7", { title: "A lamp", buyer: "ann", seller: "ben", isClosed: false, messages: 0 }],
]);
const logins = new Map();
const seen = new Set();

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token for a user, or for this program itself: "shop" is a service user. */
function tokenOf(userId) {
  const claims = { sub: userId, iss: "shop", exp: Math.floor(Date.now() / 1000) + 600 };
  const signed = `${base64url({ alg: "HS256", typ: "JWT" })}.${base64url(claims)}`;
  return `${signed}.${createHmac("sha256", JWT_KEY).update(signed).digest("base64url")}`;
}

/** A request to the chat as the shop. */
async function asShop(method, path, body) {
  const answer = await fetch(`${CHAT_URL}/api/chat${path}`, {
    method,
    headers: { Authorization: `Bearer ${tokenOf("shop")}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** The conversation of an order: made once, and found by its key afterwards. */
async function openOrder(id) {
  const { title, buyer, seller } = orders.get(id);
  const group = { key: `order:${id}`, name: title, userIds: [buyer, seller] };
  return (await asShop("POST", "/conversations/group", group)).conversation.id;
}

/** Whether a request comes from the chat, and was signed within the last five minutes. */
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": given = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - time) < 300)) return false;
  const key = Buffer.from(WEBHOOK_SECRET.replace("whsec_", ""), "base64");
  const signed = `${id}.${time}.${body}`;
  const wanted = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  return given.split(" ").some((signature) => {
    const found = Buffer.from(signature);
    return found.length === wanted.length && timingSafeEqual(found, wanted);
  });
}

/** The answer to a question or an event of the chat. */
function fromChat(id, { type, userIds, questions }) {
  if (type === "profiles") {
    const known = userIds.filter((userId) => users.has(userId));
    const named = known.map((userId) => [userId, { name: users.get(userId).name }]);
    return { profiles: Object.fromEntries(named) };
  }
  if (type === "permissions") return { allowed: questions.map(isAllowed) };
  // The only order. An event may come twice.
  if (type === "message.created" && !seen.has(id)) orders.get("7").messages += 1;
  seen.add(id);
  return {};
}

/** Only the shop creates conversations; that of a closed order is read-only. */
function isAllowed({ action, role, conversation }) {
  const order = orders.get(conversation?.key?.replace("order:", ""));
  return action === "write" && role !== null && !order?.isClosed;
}

async function answer(request, path, body) {
  const userId = logins.get(/(?:^|; )login=([\w-]+)/.exec(request.headers.cookie)?.[1]);
  const [, , id, step] = path.split("/");
  const order = path.startsWith("/orders/") ? orders.get(id) : undefined;
  const isTheirs = userId && [order?.buyer, order?.seller].includes(userId);
  switch (`${request.method} ${order ? `/orders/${step ?? ""}` : path}`) {
    case "GET /":
      return [200, PAGE, { "Content-Type": "text/html; charset=utf-8" }];
    case "POST /login": {
      const { user, password } = JSON.parse(body);
      if (!users.has(user) || users.get(user).password !== password) return [403, {}];
      const cookie = randomUUID();
      logins.set(cookie, user);
      // Over HTTPS, add "; Secure".
      return [200, { user }, { "Set-Cookie": `login=${cookie}; HttpOnly; SameSite=Strict; Path=/` }];
    }
    case "GET /token":
      return userId ? [200, { token: tokenOf(userId) }] : [401, {}];
    case "POST /hooks/chat":
      if (!isSigned(request.headers, body)) return [401, {}];
      return [200, fromChat(request.headers["webhook-id"], JSON.parse(body))];
    case "POST /orders/chat":
      return isTheirs ? [200, { conversationId: await openOrder(id) }] : [404, {}];
    case "POST /orders/close": {
      if (!isTheirs) return [404, {}];
      const conversationId = await openOrder(id);
      const note = { body: "The order is closed.", role: "system", silent: true };
      const once = { ...note, clientMessageId: `order:${id}:closed` };
      await asShop("POST", `/conversations/${conversationId}/messages`, once);
      order.isClosed = true;
      await asShop("POST", "/permissions/forget", { conversationIds: [conversationId] });
      return [200, order];
    }
    case "GET /orders/":
      return isTheirs ? [200, order] : [404, {}];
    default:
      return [404, {}];
  }
}

/** The whole body, or null if it is too large. */
async function bodyOf(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= MAX_BYTES) parts.push(part);
  }
  return size > MAX_BYTES ? null : Buffer.concat(parts).toString();
}

/** The chat and the page have one origin: in production your proxy does this. */
function toChat(request, response, path) {
  const { method, headers } = request;
  const asked = forward(new URL(path, CHAT_URL), { method, headers }, (found) => {
    response.writeHead(found.statusCode, found.headers);
    pipeline(found, response, () => {}); // Closes the page's connection if the chat closes its own.
  });
  asked.on("error", () => response.destroy());
  response.on("close", () => asked.destroy());
  request.pipe(asked);
}

createServer(async (request, response) => {
  try {
    // Parsed first: "/api/chat/../../metrics" is no path of the chat's API.
    const { pathname, search } = new URL(`http://shop${request.url}`);
    if (/^\/(api\/chat|chat-aio)\//.test(pathname)) {
      toChat(request, response, pathname + search);
      return;
    }
    const body = await bodyOf(request);
    const [status, found, headers] = body === null ? [413, {}] : await answer(request, pathname, body);
    const json = { "Content-Type": "application/json", "Cache-Control": "no-store" };
    response.writeHead(status, { ...json, ...headers });
    response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end("{}");
  }
}).listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${PORT}`));
