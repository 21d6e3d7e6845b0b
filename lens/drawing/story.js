// Lessons 1 to 8 as one page to scroll, and the machine at its end.

import { html, paint } from "./markup.js";

export function story(element) {
  paint(element, html`<p class="soft">The story of a translation.</p>`);
}
