/** What every part of a chat has: the shell that it shares with the others. */

export class Part {
  /** Parts are made once, and shown again and again. */
  constructor(shell) {
    this.shell = shell;
    this.store = shell.store;
    this.people = shell.people;
    this.texts = shell.texts;
    this.say = shell.texts.say;
  }
}
