// @ts-check
/**
 * The service worker of Web Push: it shows one notification for each conversation, and opens the
 * conversation on a click. `chat.notifications.enablePush` registers it, and keeps its settings in
 * Cache Storage, because browsers stop and start workers (docs/guides/notifications.md). It is a
 * classic script, for `importScripts` in your worker.
 */

(() => {
  const worker = /** @type {any} */ (self);
  const { registration, clients, navigator } = worker;
  const SETTINGS = "chat-aio-push";
  const OPENING = "chat-aio.opening";
  /** How long tabs have to answer that they can open a conversation. */
  const ANSWER_MS = 500;

  worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(show(event.data)));
  worker.addEventListener("pushsubscriptionchange", (/** @type {any} */ event) =>
    event.waitUntil(renew()),
  );
  worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
    const { notification } = event;
    if (!notification.data?.isChat) return;
    notification.close();
    event.waitUntil(open(notification.data));
  });

  /** @param {any} message */
  async function show(message) {
    const settings = (await read()) ?? {};
    try {
      const pushed = message.json();
      await Promise.all([showMessage(pushed, settings), setBadge(pushed.badge)]);
    } catch {
      // Each push must show something, or the browser withdraws the subscription.
      const title = settings.title || worker.location.host;
      await registration.showNotification(title, { tag: SETTINGS, data: { isChat: true } });
    }
  }

  /** One for each conversation: it replaces the one before, and counts its messages.
   * @param {any} pushed @param {any} settings */
  async function showMessage({ conversationId, messageId, seq, ...pushed }, settings) {
    if (typeof conversationId !== "string") throw new TypeError("conversationId");
    const [before] = await registration.getNotifications({ tag: conversationId });
    // Notifications are delivered at least once, and this one is on the screen.
    if (before?.data?.seq >= seq) return;
    const { excerpt, conversationName } = pushed;
    const count = (before?.data?.count ?? 0) + (pushed.count ?? 1);
    const sender = pushed.senderName ?? pushed.senderId;
    const title = conversationName ?? sender;
    await registration.showNotification(count > 1 ? `${title} (${count})` : title, {
      body: conversationName ? `${sender}: ${excerpt}` : excerpt,
      icon: pushed.senderAvatarUrl ?? settings.icon,
      tag: conversationId,
      renotify: true,
      timestamp: Date.parse(pushed.createdAt) || Date.now(),
      data: { isChat: true, conversationId, messageId, seq, count },
    });
  }

  /** The number at the app's icon; services without `inbox` send none.
   * @param {unknown} number */
  async function setBadge(number) {
    if (!Number.isInteger(number) || !navigator.setAppBadge) return;
    await (number ? navigator.setAppBadge(number) : navigator.clearAppBadge()).catch(() => {});
  }

  /** In the tab used last of those that can, else in a new one.
   * @param {{conversationId?: string, messageId?: string}} opened */
  async function open({ conversationId = "", messageId = "" }) {
    const tabs = await clients.matchAll({ type: "window", includeUncontrolled: true });
    for (const answer of conversationId ? tabs.map(ask) : []) {
      const { tab, port } = (await answer) ?? {};
      if (!tab) continue;
      port.postMessage({ conversationId, messageId });
      return tab.focus();
    }
    const { url = "/" } = (await read()) ?? {};
    const given = { "{conversationId}": conversationId, "{messageId}": messageId };
    return clients.openWindow(
      Object.entries(given).reduce(
        (path, [name, value]) => path.replaceAll(name, encodeURIComponent(value)),
        url,
      ),
    );
  }

  /** Resolves to null where the tab's page does not open conversations.
   * @param {any} tab */
  function ask(tab) {
    const { port1: port, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port.onmessage = () => resolve({ tab, port });
      tab.postMessage({ type: OPENING }, [port2]);
      setTimeout(resolve, ANSWER_MS, null);
    });
  }

  /** The browser has replaced the subscription. If the service refuses the new one, as without a
   * token, the page's next `enablePush` repairs it. */
  async function renew() {
    const settings = await read();
    if (!settings) return;
    const { publicKey, devicesUrl, credentials } = settings;
    const key = { userVisibleOnly: true, applicationServerKey: publicKey };
    const { endpoint, keys } = (await registration.pushManager.subscribe(key)).toJSON();
    const given = JSON.stringify({ kind: "web", token: endpoint, keys });
    const body = new Blob([given], { type: "application/json" });
    const answer = await fetch(devicesUrl, { method: "POST", credentials, body });
    if (!answer.ok) return;
    const { device } = await answer.json();
    const changed = { ...settings, deviceId: device.id, endpoint };
    await (await caches.open(SETTINGS)).put(registration.scope, new Response(JSON.stringify(changed)));
  }

  async function read() {
    return (await (await caches.open(SETTINGS)).match(registration.scope))?.json();
  }
})();
