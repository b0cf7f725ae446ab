/** The look of a chat, as a sheet that all chats of a page share. */

import { conversation } from "./conversation.js";
import { frame } from "./frame.js";
import { groups } from "./groups.js";
import { live } from "./live.js";
import { message } from "./message.js";
import { moderation } from "./moderation.js";
import { panels } from "./panels.js";
import { people } from "./people.js";
import { touch } from "./touch.js";

export const sheet = new CSSStyleSheet();
sheet.replaceSync(
  [people, frame, conversation, message, panels, groups, moderation, live, touch].join(""),
);
