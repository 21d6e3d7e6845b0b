// What was measured for a lesson, from its record: the findings as sentences, and folded away the picture, the figures,
// the lines of code and the slips.

import { scrollable, table } from "../common/tool_parts.js";
import { html } from "../common/markup.js";

const MARKS = { holds: "✓", "does not hold here": "✗", "not decidable here": "?" };
const KINDS = { holds: "holds", "does not hold here": "not", "not decidable here": "open" };
const SHAPES = new Set(["svg", "g", "path", "rect", "line", "text", "tspan", "use", "defs", "clipPath", "title"]);
const FIGURE = /^(?:[−+±<>≈~]?\s?\d[\d,.\s%×e±−–-]*\S{0,3}|–|)$/;
export const WARNING = html`<p class="warning">This run used <code>--quick</code>, which only checks that every lesson
  runs: the verdicts mean nothing.</p>`;

export function measured(lesson, { budget }) {
  const { verdict: { word, why, findings }, how, slips, look } = lesson;
  const fails = findings.some((one) => one.word === "does not hold here");
  return html`<section class="measured" aria-label="What was measured">
    <h3>What was measured: which textbook claims hold for this model</h3>
    ${budget === "full" ? "" : WARNING}<p class="soft">${textbook(word)}. ${prose(why)}</p>
    <ul class="findings">${findings.map(finding)}</ul>${fails ? html`<p class="fine">“Does not hold here” means
    that this small model does not show what textbooks or papers claim. Another model may show it.</p>` : ""}
    ${folded("How it was done", how.trim().split(/\n\s*\n/).map((one) => html`<p>${prose(one)}</p>`))}
    ${folded("What decided each claim", html`<dl class="fine">${findings.map(decided)}</dl>`)}
    ${folded("The picture", scrollable("The picture", html`<figure class="still">${picture(lesson.svg)}</figure>`))}
    ${lesson.tables.length ? folded("The figures", lesson.tables.map(figures)) : ""}
    ${folded("The lines that matter", lesson.code.map(listing))}
    ${slips.length ? folded("Common slips", html`<ul>${slips.map((one) => html`<li>${prose(one)}</li>`)}</ul>`) : ""}
    ${folded("Try next", html`<p>${prose(lesson.try)}</p>${
      look ? html`<p><button class="chip" data-look>Look for yourself</button></p>` : ""}`)}</section>`;
}

// "4 of 5 claims hold" as a finding about the model, not a score.
const textbook = (word) => word.replace(/^(\d+) of (\d+) claims? holds?/, "Of $2 claims in textbooks and papers, $1 hold for this model");

const folded = (title, content) => html`<details><summary>${title}</summary>${content}</details>`;

const finding = ({ claim, word, why }) => html`<li class="${KINDS[word]}"><span class="mark"
  aria-hidden="true">${MARKS[word]}</span><div><p><b>${prose(claim)}</b> <span class="verdict-word">${word}</span></p>
  <p>${prose(why)}</p></div></li>`;

const decided = ({ claim, checks }) => html`<dt>${prose(claim)}</dt><dd>Measured: ${prose(checks.join("; "))}.</dd>`;

// Columns of figures are right-aligned, columns with any text left-aligned.
function figures({ caption, columns, rows }) {
  const kind = columns.map((_, i) => rows.every((row) => FIGURE.test(row[i])) ? "figure" : "");
  const head = columns.map((one, i) => html`<th scope="col" class="${kind[i]}">${prose(one)}</th>`);
  const line = (row) => html`<tr>${row.map((cell, i) => html`<td class="${kind[i]}">${prose(cell)}</td>`)}</tr>`;
  return html`<p class="caption">${prose(caption)}</p>${table(caption.replace(/[*`]/g, ""), head, rows.map(line))}`;
}

const listing = ({ name, file, line, source }) => html`<p class="caption"><code>${name}</code> in <code>${file}</code>,
  line ${line}</p>${scrollable(name, html`<pre><code>${source}</code></pre>`)}`;

// Text of the record: `code` between backquotes, *emphasis* between stars, and numbers as in print: a true minus,
// powers of ten, a thin space before per cent.
export const prose = (plain) => html`${plain.split(/(`[^`]+`)/).map((part) =>
  part.startsWith("`") ? html`<code>${part.slice(1, -1)}</code>` : emphasised(part))}`;
const emphasised = (part) => part.split(/(\*[\p{L}\p{N}_“][^*]*\*)/u).map((one) =>
  /^\*.+\*$/s.test(one) ? html`<em>${printed(one.slice(1, -1))}</em>` : printed(one));
const POWER = /\b(\d(?:\.\d+)?e[-−]0*\d+)/;
const printed = (part) => part.replace(/\b0(?:\.0)?e[+]00\b/g, "0").replace(/(\d) ?%/g, "$1\u202f%")
  .replace(/(?<![\p{L}\p{N}_.&;)-])-(?=\d)/gu, "−").split(POWER).map(raised);
function raised(one) {
  const [, digits, power] = /^(\d(?:\.\d+)?)e[-−]0*(\d+)$/.exec(one) ?? [];
  return power ? html`${digits} × 10<sup>−${power}</sup>` : one;
}

// The picture of a record, which may be a file from anywhere: without what could run or load anything.
function picture(svg) {
  const { body } = new DOMParser().parseFromString(`<div>${svg}</div>`, "text/html"), drawn = body.querySelector("svg");
  for (const one of [drawn, ...drawn.querySelectorAll("*")]) {
    if (!SHAPES.has(one.localName)) one.remove();
    for (const name of one.getAttributeNames())
      if (/^on/i.test(name) || /href$/i.test(name) && !one.getAttribute(name).startsWith("#")) one.removeAttribute(name);
  }
  return html([drawn.outerHTML]);
}
