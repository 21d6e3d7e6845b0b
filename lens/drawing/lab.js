// The lab: six questions, each a tool in the drawer.  A tool has `question`, `name`, `about`, `draw(body, context)` and
// `actions`, by the name in a control's data-do.

import { alike } from "./alike.js";
import { arithmetic } from "./arithmetic.js";
import { layers } from "./layers.js";
import { switchOff } from "./switch_off.js";
import { tree } from "./tree.js";
import { whatIf } from "./what_if.js";

export const TOOLS = { off: switchOff, what: whatIf, row: arithmetic, layers, tree, alike };
