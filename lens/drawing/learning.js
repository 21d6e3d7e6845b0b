// The first minute: a model in training, watched until it is ready.

import { css, shade } from "./colour.js";
import { lossCurve } from "./learn.js";
import { html, paint } from "./markup.js";
import { count } from "./wording.js";

export function learning(element, theme) {
  const root = element.appendChild(document.createElement("div"));
  root.className = "s2s";
  root.dataset.theme = theme;
  return { root, show: (progress) => paint(root, drawn(progress || {}, theme)) };
}

function drawn({ state, step, steps, seconds_left: left, losses = [], sentence = "", translation = "", rows = [],
  columns = [], maps = [] }, theme) {
  const whole = Math.round(left), seconds = String(whole % 60).padStart(2, "0");
  const time = left == null ? "" : `, ${Math.floor(whole / 60)}:${seconds} left`;
  const title = state === "starting" || !step ? "A model is about to learn to translate."
    : html`Learning: step <b>${count(step)}</b> of ${count(steps)}${time}`;
  const curve = () => html`<div class="losses">${
    lossCurve(losses.map(([at, loss]) => ({ step: at, loss })), step)}</div><p
    class="fine">Training loss, now ${losses.at(-1)[1].toFixed(2)}</p>`;
  const cell = (value, i) => html`<rect x="${i % columns.length}" y="${Math.floor(i / columns.length)}" width="1.02"
    height="1.02" fill="${css(shade(value / 255, "blue", theme))}"/>`;
  const picture = (map) => html`<svg viewBox="0 0 ${columns.length} ${rows.length}" preserveAspectRatio="none"
    role="img" aria-label="Cross-attention">${map.map(cell)}</svg>`;
  const pictures = "Each picture is one cross-attention head: rows are the words written, columns the English words.";
  return html`<header class="top-bar"><div
    class="brand"><h1>Seq2See</h1><span>The translation model you can see through</span></div></header>
    <main class="card first-minute"><h2>${title}</h2>
    <p class="line" lang="en">${sentence}</p>
    <p class="line" lang="fr">${translation || html`<span class="soft">(nothing yet)</span>`}</p>
    ${losses.length > 1 ? curve() : ""}
    <div class="learning-maps">${maps.flat().map(picture)}</div>
    <p class="fine">${maps.length ? pictures : ""} When training ends, this page becomes the explorer of this
      model.</p></main>`;
}
