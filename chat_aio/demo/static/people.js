/** The page's names, initials and colours of people and conversations. */

import { enumerationOf, say } from "./words.js";

const GOLDEN_ANGLE = 137.5;

export class People {
  #byId;
  /** Looks up a conversation, by its id; null for one that is not known. */
  conversation = () => null;

  /** `people` are {id, name, picture, moderator, bot}, of whom `userId` is using the page. */
  constructor(people, userId) {
    this.all = people;
    this.userId = userId;
    this.#byId = new Map(people.map((person, index) => [person.id, { ...person, index }]));
  }

  get others() {
    return this.all.filter((person) => person.id !== this.userId);
  }

  /** What the service shows of users, by id, as it comes with a page. */
  learn(users = {}) {
    for (const { id, name, avatarUrl, isBot } of Object.values(users)) {
      const shown = { id, name, picture: avatarUrl, bot: isBot };
      this.#byId.set(id, { ...this.#byId.get(id), ...shown });
    }
  }

  nameOf(userId) {
    return this.#byId.get(userId)?.name ?? userId;
  }

  get isModerator() {
    return Boolean(this.#byId.get(this.userId)?.moderator);
  }

  /** A hue in degrees: far apart for those who are known, from the id for anyone else. */
  hueOf(userId) {
    const index = this.#byId.get(userId)?.index ?? hashOf(userId) + this.all.length;
    return Math.round(200 + index * GOLDEN_ANGLE) % 360;
  }

  titleOf(conversation) {
    if (conversation.name) return conversation.name;
    const names = this.#othersIn(conversation).map((member) => this.nameOf(member.userId));
    return enumerationOf(names) || say("people.justYou");
  }

  subtitleOf(conversation) {
    if (conversation.type === "direct") return say("people.direct");
    const names = this.#othersIn(conversation).map(({ userId }) => this.nameOf(userId));
    if (names.length < conversation.participants.length) names.unshift(say("people.you"));
    return say("people.all", { count: names.length, names: enumerationOf(names) });
  }

  /** {initials, hue, shape, image} of a conversation's picture. */
  pictureOf(conversation) {
    const [other] = this.#othersIn(conversation);
    if (conversation.type === "direct" && other) return this.pictureOfPerson(other.userId);
    return this.pictureOfGroup(conversation.id, this.titleOf(conversation));
  }

  pictureOfGroup(conversationId, title) {
    const hue = hashOf(conversationId) % 360;
    return { initials: initialsOf(title), hue, shape: "square", image: null };
  }

  pictureOfPerson(userId) {
    const image = this.#byId.get(userId)?.picture ?? null;
    const initials = initialsOf(this.nameOf(userId));
    return { initials, hue: this.hueOf(userId), shape: "round", image };
  }

  isAdminOf({ participants }, userId = this.userId) {
    return participants.some((member) => member.userId === userId && member.role === "admin");
  }

  idsOfOthersIn(conversation) {
    return this.#othersIn(conversation).map((member) => member.userId);
  }

  /** The id of the other of a direct conversation; null in a group. */
  otherIn(conversation) {
    return conversation.type === "direct" ? (this.idsOfOthersIn(conversation)[0] ?? null) : null;
  }

  #othersIn(conversation) {
    return conversation.participants.filter((member) => member.userId !== this.userId);
  }
}

/** The first letters of the first two words; whole code points, so that an emoji stays one. */
function initialsOf(name) {
  const words = name.split(/[\s,]+/u).filter(Boolean).slice(0, 2);
  return words.map((word) => [...word][0].toUpperCase()).join("");
}

function hashOf(text) {
  let hash = 0;
  for (const character of text) hash = (hash * 31 + character.codePointAt(0)) % 1_000_003;
  return hash;
}
