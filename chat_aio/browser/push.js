// @ts-check
/**
 * Web Push in this browser: its subscription, and the settings of push-worker.js. The subscription is
 * kept only while it is a device of the current user: another user gets a new one, so that nothing
 * that is on its way to the former user is shown to them.
 */

/** @typedef {(opened: {conversationId: string, messageId: string}) => void} OnOpen */

const SETTINGS = "chat-aio-push";
const OPENING = "chat-aio.opening";

export class Push {
  #calls;
  /** @type {ServiceWorkerRegistration | null} */
  #registration = null;
  /** @type {OnOpen | undefined} */
  #onOpen;
  #listens = false;
  /** @type {number | undefined} */
  #unread;

  /** @param {{
   *   listDevices: () => Promise<{devices: any[], publicKey: string | null}>,
   *   registerDevice: (given: any) => Promise<any>,
   *   removeDevice: (deviceId: string) => Promise<any>,
   *   settings: () => Promise<{devicesUrl: string, credentials?: RequestCredentials}>,
   *   error: (code: string, cause?: unknown) => Error}} calls */
  constructor(calls) {
    this.#calls = calls;
  }

  /** With the `PushOptions` of chat.js.
   * @param {any} given */
  async enable({ ask = true, onOpen, ...options }) {
    if (!isAvailable()) {
      if (!ask) return null;
      throw this.#calls.error("PUSH_UNAVAILABLE");
    }
    // First: Safari shows its question only directly after the click.
    const permission = ask ? await Notification.requestPermission() : Notification.permission;
    if (permission !== "granted") {
      if (!ask) return null;
      throw this.#calls.error("PUSH_DENIED");
    }
    this.#listen(onOpen);
    // One tab at a time: tabs would replace each other's subscriptions.
    return navigator.locks.request(SETTINGS, () => this.#enable(ask, options));
  }

  /** @param {boolean} ask @param {any} options */
  async #enable(ask, { worker = "/chat-aio/push-worker.js", scope, ...shown }) {
    const script = new URL(worker, location.href);
    const place = scope ? new URL(scope, location.href) : new URL("./", script);
    const settings = await open();
    const scopes = (await settings.keys()).map((request) => request.url);
    if (!ask && scopes.length === 0) return null;
    const known = await read(place.href);
    // Of an app whose worker had another scope before.
    const others = scopes.filter((other) => other !== place.href);
    const { devices, publicKey } = await this.#offered();
    const registration = await this.#register(script, place);
    for (const other of others) await unsubscribe(other);
    const { pushManager } = registration;
    let subscription = await pushManager.getSubscription();
    let device = devices.find(({ id }) => id === known?.deviceId);
    const { endpoint } = subscription ?? {};
    const isOwn = device && endpoint === known.endpoint && publicKey === known.publicKey;
    if (!subscription || !isOwn) {
      await subscription?.unsubscribe();
      subscription = await this.#subscribe(pushManager, publicKey);
      const { endpoint: token, keys } = subscription.toJSON();
      device = await this.#calls.registerDevice({ kind: "web", token, keys });
    }
    const { url = location.pathname, title = document.title, icon } = shown;
    const kept = { deviceId: device.id, endpoint: subscription.endpoint, publicKey };
    const stored = { ...(await this.#calls.settings()), ...kept, url, title, icon };
    await settings.put(place.href, new Response(JSON.stringify(stored)));
    for (const other of others) await settings.delete(other);
    this.#registration = registration;
    if (this.#unread !== undefined) setBadge(this.#unread);
    return device;
  }

  async disable() {
    if (!isAvailable()) return;
    await navigator.locks.request(SETTINGS, async () => {
      this.#registration = null;
      const settings = await open();
      for (const { url: scope } of await settings.keys()) {
        const { deviceId } = await read(scope);
        await settings.delete(scope);
        // First: if the service cannot be reached, nothing more is shown, either.
        await unsubscribe(scope);
        await this.#calls.removeDevice(deviceId);
      }
    });
  }

  /** The user has read, or has got, messages in another place.
   * @param {any} event */
  notice(event) {
    if (event.type === "unread.updated") this.noticeUnread(event);
    if (event.type === "read.updated" && event.unreadCount === 0 && this.#registration) {
      closeShown(this.#registration, event.conversationId);
    }
  }

  /** @param {{unmuted: {messages: number}}} totals */
  noticeUnread({ unmuted }) {
    this.#unread = unmuted.messages;
    if (this.#registration) setBadge(this.#unread);
  }

  /** @param {OnOpen | undefined} onOpen */
  #listen(onOpen) {
    this.#onOpen = onOpen;
    if (this.#listens) return;
    this.#listens = true;
    navigator.serviceWorker.addEventListener("message", ({ data, ports: [port] }) => {
      if (data?.type !== OPENING || !this.#onOpen) return;
      port.onmessage = ({ data: opened }) => this.#onOpen?.(opened);
      port.postMessage(true);
    });
    navigator.serviceWorker.startMessages();
  }

  /** The user's devices, and the key of the service. */
  async #offered() {
    const found = await this.#calls.listDevices().catch((error) => {
      throw error.status === 404 ? this.#calls.error("PUSH_UNSUPPORTED", error) : error;
    });
    const { devices, publicKey } = found;
    if (publicKey === null) throw this.#calls.error("PUSH_UNSUPPORTED");
    return { devices, publicKey };
  }

  /** @param {URL} script @param {URL} scope */
  async #register(script, scope) {
    try {
      const registration = await navigator.serviceWorker.register(script, { scope: scope.pathname });
      await activated(registration);
      return registration;
    } catch (cause) {
      throw this.#calls.error("PUSH_FAILED", cause);
    }
  }

  /** @param {PushManager} manager @param {string} applicationServerKey */
  async #subscribe(manager, applicationServerKey) {
    try {
      return await manager.subscribe({ userVisibleOnly: true, applicationServerKey });
    } catch (cause) {
      throw this.#calls.error("PUSH_FAILED", cause);
    }
  }
}

/** Not in insecure pages, nor in old browsers. */
function isAvailable() {
  const { navigator: found } = globalThis;
  return Boolean(found?.serviceWorker && found.locks && globalThis.caches && globalThis.PushManager);
}

/** Until then it cannot be subscribed.
 * @param {ServiceWorkerRegistration} registration */
async function activated({ active, waiting, installing }) {
  const worker = installing ?? waiting;
  if (active || !worker) return;
  await new Promise((resolve, reject) => {
    worker.addEventListener("statechange", () => {
      if (worker.state === "activated") resolve(null);
      if (worker.state === "redundant") reject(new Error(worker.state));
    });
  });
}

/** @param {string} scope */
async function unsubscribe(scope) {
  const registration = await navigator.serviceWorker.getRegistration(scope);
  // Another one may have a wider scope.
  if (registration?.scope !== scope) return;
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  await closeShown(registration);
  setBadge(0);
}

/** Close the notifications of a conversation, or of all.
 * @param {ServiceWorkerRegistration} registration @param {string} [tag] */
async function closeShown(registration, tag) {
  for (const shown of await registration.getNotifications(tag ? { tag } : {})) {
    if (shown.data?.isChat) shown.close();
  }
}

/** @param {number} number */
function setBadge(number) {
  const app = /** @type {any} */ (navigator);
  const setting = number ? app.setAppBadge?.(number) : app.clearAppBadge?.();
  setting?.catch(() => {});
}

async function open() {
  return caches.open(SETTINGS);
}

/** @param {string} scope */
async function read(scope) {
  return (await (await open()).match(scope))?.json();
}
