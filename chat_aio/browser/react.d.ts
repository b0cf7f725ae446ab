/**
 * The store of all components inside. It is started while this is mounted, and closed then.
 * @param {{store: ChatStore, children?: import("react").ReactNode}} props
 */
export function ChatProvider({ store, children }: {
    store: ChatStore;
    children?: import("react").ReactNode;
}): import("react").FunctionComponentElement<import("react").ProviderProps<import("./chat-store.js").ChatStore | null>>;
/**
 * The store, for its actions. Throws an Error outside of a ChatProvider.
 * @returns {ChatStore}
 */
export function useChatStore(): ChatStore;
/**
 * A snapshot of the store: the component is rendered again only if it becomes another object.
 * @template Snapshot
 * @param {(store: ChatStore) => Snapshot} select
 * @returns {Snapshot}
 */
export function useChat<Snapshot>(select: (store: ChatStore) => Snapshot): Snapshot;
/** @returns {ReturnType<ChatStore["state"]>} */
export function useChatState(): ReturnType<ChatStore["state"]>;
/** @returns {ReturnType<ChatStore["conversations"]>} */
export function useConversations(): ReturnType<ChatStore["conversations"]>;
/** @param {string} id @returns {ReturnType<ChatStore["conversation"]>} */
export function useConversation(id: string): ReturnType<ChatStore["conversation"]>;
/** @param {string} id @returns {ReturnType<ChatStore["timeline"]>} */
export function useTimeline(id: string): ReturnType<ChatStore["timeline"]>;
/** @returns {ReturnType<ChatStore["thread"]>} */
export function useThread(): ReturnType<ChatStore["thread"]>;
/** @param {string} id @returns {ReturnType<ChatStore["user"]>} */
export function useUser(id: string): ReturnType<ChatStore["user"]>;
/**
 * Whether the end of the open conversation is visible: while it is, its messages are marked as read.
 * @param {boolean} isReading
 */
export function useViewing(isReading: boolean): void;
/**
 * `<chat-aio>` as a component; `ref` is the element. Its code is loaded when it is first mounted.
 * @type {import("react").ForwardRefExoticComponent<
 *   ChatElementProps & import("react").RefAttributes<ChatAio>>}
 */
export const ChatElement: import("react").ForwardRefExoticComponent<ChatElementProps & import("react").RefAttributes<ChatAio>>;
export type ChatStore = import("./chat-store.js").ChatStore;
export type Message = import("./chat.js").Message;
export type ChatAio = import("./element.js").ChatAio;
/**
 * Attributes, properties and events of the element, and its slots as children.
 */
export type ChatElementProps = {
    user?: string | undefined;
    base?: string | undefined;
    lang?: string | undefined;
    conversation?: string | undefined;
    address?: string | undefined;
    view?: "conversation" | "list" | "full" | undefined;
    features?: string | undefined;
    className?: string | undefined;
    chat?: import("./chat.js").Chat | null | undefined;
    token?: import("./element.js").Token | undefined;
    words?: import("./element.js").Words | undefined;
    people?: import("./element.js").Person[] | undefined;
    children?: import("react").ReactNode;
    onUnread?: ((detail: {
        total: number;
    }) => void) | undefined;
    onOpen?: ((detail: {
        conversationId: string | null;
    }) => void) | undefined;
    onTitle?: ((detail: {
        title: string;
    }) => void) | undefined;
    onStatus?: ((detail: {
        status: string;
    }) => void) | undefined;
    onMessage?: ((detail: {
        message: Message;
    }) => void) | undefined;
    onBanned?: (() => void) | undefined;
    onUnauthorised?: (() => void) | undefined;
};
