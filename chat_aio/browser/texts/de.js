/** The words of the page in German, by area. Readers are addressed as "du". */

import { chat } from "./de/chat.js";
import { firstSteps } from "./de/first-steps.js";
import { groups } from "./de/groups.js";
import { moderation } from "./de/moderation.js";
import { problems } from "./de/problems.js";

export const de = { ...chat, ...firstSteps, ...groups, ...moderation, ...problems };
