/** Names, initials and colours of people and conversations. No DOM. */

const GOLDEN_ANGLE = 137.5;

export class People {
  #listed;
  #users;
  #texts;
  #isModerator;
  /** Looks up a conversation, by its id; null for one that is not known. */
  conversation;

  /**
   * `listed` are the people of the host, {id, name, avatarUrl?, isBot?, isModerator?}, whom one can
   * write to; without any they are those whom `users` have shown so far.
   */
  constructor(store, users, texts, { listed = [], isModerator = false } = {}) {
    this.userId = store.userId;
    this.#users = users;
    this.#texts = texts;
    this.#isModerator = isModerator;
    this.#listed = new Map(listed.map((person, index) => [person.id, { ...person, index }]));
    this.conversation = (id) => store.conversation(id);
  }

  get all() {
    return this.#listed.size > 0 ? [...this.#listed.values()] : this.#users.all;
  }

  get others() {
    return this.all.filter((person) => person.id !== this.userId);
  }

  /** What the service shows of users, by id, as it comes with a page. */
  learn(users) {
    this.#users.learn(users);
  }

  nameOf(userId) {
    return this.#get(userId).name;
  }

  get isModerator() {
    return this.#listed.get(this.userId)?.isModerator ?? this.#isModerator;
  }

  /** A hue in degrees: far apart for those who are known, from the id for anyone else. */
  hueOf(userId) {
    const index = this.#listed.get(userId)?.index ?? hashOf(userId) + this.#listed.size;
    return Math.round(200 + index * GOLDEN_ANGLE) % 360;
  }

  titleOf(conversation) {
    if (conversation.name) return conversation.name;
    const names = this.#othersIn(conversation).map((member) => this.nameOf(member.userId));
    return this.#texts.enumerationOf(names) || this.#texts.say("people.justYou");
  }

  subtitleOf(conversation) {
    if (conversation.type === "direct") return this.#texts.say("people.direct");
    const names = this.#othersIn(conversation).map(({ userId }) => this.nameOf(userId));
    if (names.length < conversation.participants.length) names.unshift(this.#texts.say("people.you"));
    return this.#texts.say("people.all", { count: names.length, names: this.#texts.enumerationOf(names) });
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
    const image = this.#get(userId).avatarUrl ?? null;
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

  #get(userId) {
    return this.#listed.get(userId) ?? this.#users.get(userId);
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
