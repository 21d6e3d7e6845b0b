// The whole machine on one screen: how the words of a sentence become the next word of its translation.

import { html, paint } from "./markup.js";

export function machine(element) {
  paint(element, html`<p class="soft">The machine.</p>`);
}
