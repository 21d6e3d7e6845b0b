// The lab: six questions, each a tool in the drawer.  A tool has `question`, `name`, `about`, and `draw(body, context)`.

import { switchOff } from "./switch_off.js";

export const TOOLS = { off: switchOff };
