// What the machine listens to, beside its controls: the pointer and the focus, which say a sentence and light a path,
// and the keyboard.

import { putAt } from "../common/markup.js";

export function listenToMachine(box, context) {
  const tip = box.querySelector(".m-tip");
  const hide = () => { tip.hidden = true; light(box, null); };
  const tell = (target, place) => {
    if (!target) return hide();
    light(box, target.closest("[data-key]")?.dataset.key);
    if (target.dataset.tell === undefined) return void (tip.hidden = true);
    tip.innerHTML = target.dataset.tell;  // written by this page; what users type is escaped in it
    Object.assign(tip.dataset, { says: target.dataset.kind });
    tip.hidden = false;
    const above = place.y - tip.offsetHeight - 14;
    putAt(tip, place.x - tip.offsetWidth / 2, above < 8 ? place.y + 20 : above);
  };
  const toldAt = (target) => target.closest?.("[data-tell], [data-key]");
  box.addEventListener("pointermove", ({ target, pointerType, clientX: x, clientY: y }) => {
    if (pointerType !== "touch") tell(toldAt(target), { x, y });
  });
  box.addEventListener("pointerleave", hide);
  box.addEventListener("focusin", ({ target }) => {
    if (!target.matches(":focus-visible")) return;
    const { left, top, width } = target.getBoundingClientRect();
    tell(toldAt(target), { x: left + width / 2, y: top + 8 });
  });
  box.addEventListener("focusout", hide);
  box.addEventListener("click", hide);
  box.addEventListener("keydown", (event) => key(box, context, event, hide));
}

// Only this path; all others fade.
function light(box, key) {
  const stage = box.querySelector(".m-svg");
  if (!stage) return;
  const isFlow = key && stage.querySelector(`.flow[data-key="${CSS.escape(key)}"]`);
  stage.classList.toggle("focused", Boolean(isFlow));
  stage.querySelectorAll(".flow").forEach((one) => one.classList.toggle("hot", one.dataset.key === key));
}

function key(box, { state, actions }, event, hide) {
  const { target, key: pressed } = event, { open, stop } = state.machine;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea")) return;
  if (pressed === "Escape") {
    hide();
    if (open) actions.machine_close(); else if (stop !== null) actions.machine_stop({ dataset: { value: "" } });
  } else if ((pressed === "Enter" || pressed === " ") && target.matches("svg [role=button]")) {
    event.preventDefault();
    actions[target.dataset.do](target);
  } else if ((pressed === "," || pressed === ".") && !open) {
    event.preventDefault();
    onward(box, actions, pressed === "," ? -1 : 1);
  } else if (target.dataset.rove) rove(box, event);
}

// The first token of the previous or next word.
function onward(box, actions, by) {
  const words = [...box.querySelectorAll(".m-word")], at = words.findIndex((one) => one.ariaPressed === "true");
  const next = words[at + by];
  if (next) actions.machine_word(next);
}

// Arrow keys move the focus among what shares one tab stop.
function rove(box, event) {
  const { target, key: pressed } = event, isRow = target.matches("svg *");
  const forward = getComputedStyle(target).direction === "rtl" ? -1 : 1;
  const by = isRow ? { ArrowUp: -1, ArrowDown: 1 }[pressed] : { ArrowLeft: -forward, ArrowRight: forward }[pressed];
  if (!by) return;
  event.preventDefault();
  const all = [...box.querySelectorAll(`[data-rove=${target.dataset.rove}]`)], next = all[all.indexOf(target) + by];
  if (!next) return;
  for (const one of all) one.setAttribute("tabindex", one === next ? 0 : -1);
  next.focus();
}
