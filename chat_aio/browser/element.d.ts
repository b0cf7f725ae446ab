/**
 * Attributes: `user` (the logged-in user; nothing is shown without), `base`, `token`, `lang`,
 * `conversation`, whose id is the only one that is shown, `view` ("conversation", "list" or
 * "full"), `features` (names of further parts) and `address` (places are in
 * the page's address, behind this name).
 * Events, which bubble:
 * `chat-aio:unread` ({total}), `chat-aio:open` ({conversationId}), `chat-aio:title` ({title}),
 * `chat-aio:status` ({status}), `chat-aio:banned`, `chat-aio:unauthorised` when the user is not logged
 * in (any longer), and `chat-aio:message` ({message}) for a new
 * message that is not being read.
 */
export class ChatAio extends HTMLElement {
    static observedAttributes: string[];
    /** The visible parts, while the element is in a page.
     * @returns {ChatStore | null} */
    get store(): ChatStore | null;
    /** @param {Chat | null} chat */
    set chat(arg: Chat | null);
    /** A client made by the page, in place of `base` and `token`.
     * @returns {Chat | null} */
    get chat(): Chat | null;
    /** @param {Token} token */
    set token(arg: Token);
    /** Sent as `Authorization: Bearer`, or a function that is called for it each time.
     * @returns {Token} */
    get token(): Token;
    /** @param {Person[]} people */
    set people(arg: Person[]);
    /** The people that one can write to; without, they are those of the conversations so far.
     * @returns {Person[]} */
    get people(): Person[];
    /** @param {Words} words */
    set words(arg: Words);
    /** Texts in place of the default ones, by their names in texts/en; texts with a number may have
     * forms, as Intl.PluralRules names them.
     * @returns {Words} */
    get words(): Words;
    connectedCallback(): void;
    disconnectedCallback(): void;
    /** @param {string} name @param {string | null} before @param {string | null} after */
    attributeChangedCallback(name: string, before: string | null, after: string | null): void;
    /** Show a conversation; null: none.
     * @param {string | null} conversationId
     * @returns {Promise<void>} */
    open(conversationId: string | null): Promise<void>;
    /** Show the direct conversation with someone.
     * @param {string} otherUserId
     * @returns {Promise<void>} */
    openDirect(otherUserId: string): Promise<void>;
    /** For `onError` of a client of your own: a banned user sees that at once. USER_BANNED of a
     * release may be the sender's ban.
     * @param {{code: string}} error */
    refused(error: {
        code: string;
    }): void;
    #private;
}
export type Token = string | null | (() => string | null | Promise<string | null>);
export type Words = {
    [name: string]: string | {
        [form: string]: string;
    };
};
export type Person = {
    id: string;
    name: string;
    picture?: string | null;
    bot?: boolean;
    moderator?: boolean;
};
import { ChatStore } from "./chat-store.js";
import { Chat } from "./chat.js";
