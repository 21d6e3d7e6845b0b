// The tooltip: after a moment under the pointer, at once on focus or a tap; Escape closes it.  It holds no controls.

import { putAt } from "./markup.js";

const WAIT = 350;

export function tips(root) {
  const tip = root.querySelector(".tip");
  let timer = null, of = null;
  const hide = () => { clearTimeout(timer); tip.hidden = true; of?.removeAttribute("aria-describedby"); of = null; };
  const show = (target) => {
    hide();
    if (!target.isConnected) return;
    of = target;
    tip.innerHTML = target.dataset.tip;  // written by this page; what users type is escaped in it
    tip.hidden = false;
    target.setAttribute("aria-describedby", tip.id);
    const at = target.getBoundingClientRect(), above = at.top - tip.offsetHeight - 8;
    putAt(tip, at.left + at.width / 2 - tip.offsetWidth / 2, above < 8 ? at.bottom + 8 : above);
  };
  const find = (event) => event.target.closest?.("[data-tip]");
  root.addEventListener("pointerover", (event) => {
    const target = find(event);
    if (event.pointerType === "touch" || target === of) return;
    hide();
    if (target) timer = setTimeout(show, WAIT, target);
  });
  root.addEventListener("pointerleave", hide);
  const showIf = (target, selector) => target?.matches(selector) ? show(target) : hide();
  root.addEventListener("focusin", (event) => showIf(find(event), ":focus-visible"));
  root.addEventListener("click", (event) => showIf(find(event), ".about, .badge, .term, .strip"));
  root.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
