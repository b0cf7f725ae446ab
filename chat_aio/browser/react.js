// @ts-check
/**
 * A chat in React: hooks over the store, and the element as a component (docs/guides/react.md).
 *
 *   <ChatProvider store={store}><Messages id={id} /></ChatProvider>
 *   const { messages, typing } = useTimeline(id);
 *
 *   <ChatElement user="ann" base="/api/chat" onUnread={({ total }) => setTotal(total)} />
 *
 * React is the app's, 18 or newer.
 */

import {
  createContext,
  createElement,
  forwardRef,
  useContext,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from "react";

/** @typedef {import("./chat-store.js").ChatStore} ChatStore */
/** @typedef {import("./chat.js").Message} Message */
/** @typedef {import("./element.js").ChatAio} ChatAio */

/**
 * Attributes, properties and events of the element, and its slots as children.
 * @typedef {{
 *   user?: string, base?: string, lang?: string, conversation?: string, address?: string,
 *   view?: "conversation" | "list" | "full", features?: string, className?: string,
 *   chat?: ChatAio["chat"], token?: ChatAio["token"], words?: ChatAio["words"],
 *   people?: ChatAio["people"], children?: import("react").ReactNode,
 *   onUnread?: (detail: {total: number}) => void,
 *   onOpen?: (detail: {conversationId: string | null}) => void,
 *   onTitle?: (detail: {title: string}) => void,
 *   onStatus?: (detail: {status: string}) => void,
 *   onMessage?: (detail: {message: Message}) => void,
 *   onBanned?: () => void,
 *   onUnauthorised?: () => void,
 * }} ChatElementProps
 */

const DEFAULTS = { chat: null, people: [], token: null, words: {} };
const EVENTS = {
  onUnread: "unread",
  onOpen: "open",
  onTitle: "title",
  onStatus: "status",
  onMessage: "message",
  onBanned: "banned",
  onUnauthorised: "unauthorised",
};

const StoreContext = createContext(/** @type {ChatStore | null} */ (null));

/**
 * The store of all components inside. It is started while this is mounted, and closed then.
 * @param {{store: ChatStore, children?: import("react").ReactNode}} props
 */
export function ChatProvider({ store, children }) {
  useEffect(() => {
    store.start();
    return () => store.close();
  }, [store]);
  return createElement(StoreContext.Provider, { value: store }, children);
}

/**
 * The store, for its actions. Throws an Error outside of a ChatProvider.
 * @returns {ChatStore}
 */
export function useChatStore() {
  const store = useContext(StoreContext);
  if (store === null) throw new Error("this component is not inside a ChatProvider");
  return store;
}

/**
 * A snapshot of the store: the component is rendered again only if it becomes another object.
 * @template Snapshot
 * @param {(store: ChatStore) => Snapshot} select
 * @returns {Snapshot}
 */
export function useChat(select) {
  const store = useChatStore();
  const read = () => select(store);
  return useSyncExternalStore(store.subscribe, read, read);
}

/** @returns {ReturnType<ChatStore["state"]>} */
export function useChatState() {
  return useChat((store) => store.state());
}

/** @returns {ReturnType<ChatStore["conversations"]>} */
export function useConversations() {
  return useChat((store) => store.conversations());
}

/** @param {string} id @returns {ReturnType<ChatStore["conversation"]>} */
export function useConversation(id) {
  return useChat((store) => store.conversation(id));
}

/** @param {string} id @returns {ReturnType<ChatStore["timeline"]>} */
export function useTimeline(id) {
  return useChat((store) => store.timeline(id));
}

/** @returns {ReturnType<ChatStore["thread"]>} */
export function useThread() {
  return useChat((store) => store.thread());
}

/** @param {string} id @returns {ReturnType<ChatStore["user"]>} */
export function useUser(id) {
  return useChat((store) => store.user(id));
}

/**
 * Whether the end of the open conversation is visible: while it is, its messages are marked as read.
 * @param {boolean} isReading
 */
export function useViewing(isReading) {
  const store = useChatStore();
  useEffect(() => {
    store.setViewing(isReading);
    return () => store.setViewing(false);
  }, [store, isReading]);
}

/**
 * `<chat-aio>` as a component; `ref` is the element. Its code is loaded when it is first mounted.
 * @type {import("react").ForwardRefExoticComponent<
 *   ChatElementProps & import("react").RefAttributes<ChatAio>>}
 */
export const ChatElement = forwardRef(function ChatElement(given, ref) {
  const { chat, people, token, words, className, children, ...rest } = given;
  const node = useRef(/** @type {any} */ (null));
  const listeners = useRef(given);
  useImperativeHandle(ref, () => node.current);
  useLayoutEffect(() => {
    listeners.current = given;
  });
  useProperty(node, "chat", chat);
  useProperty(node, "token", token);
  useProperty(node, "people", people, JSON.stringify(people));
  useProperty(node, "words", words, JSON.stringify(words));
  useEffect(() => {
    const element = node.current;
    const ending = new AbortController();
    const { signal } = ending;
    for (const [prop, name] of Object.entries(EVENTS)) {
      const notify = (/** @type {any} */ { detail }) =>
        /** @type {any} */ (listeners.current)[prop]?.(detail);
      element.addEventListener(`chat-aio:${name}`, notify, { signal });
    }
    import("./element.js");
    return () => ending.abort();
  }, []);
  const attributes = Object.fromEntries(Object.entries(rest).filter(([name]) => !(name in EVENTS)));
  return createElement("chat-aio", { ...attributes, class: className, ref: node }, children);
});

/**
 * Without a value it has its default. It is only assigned when `key` has changed: people and words
 * that are written in a render function are other objects each time, and would reset the element.
 * @param {{current: any}} node
 * @param {keyof typeof DEFAULTS} name
 * @param {unknown} value
 * @param {unknown} [key]
 */
function useProperty(node, name, value, key = value) {
  useLayoutEffect(() => {
    node.current[name] = value ?? DEFAULTS[name];
  }, [key]);
}
