/** The words of the page in English, by area. */

import { chat } from "./en/chat.js";
import { firstSteps } from "./en/first-steps.js";
import { groups } from "./en/groups.js";
import { moderation } from "./en/moderation.js";
import { problems } from "./en/problems.js";

export const en = { ...chat, ...firstSteps, ...groups, ...moderation, ...problems };
