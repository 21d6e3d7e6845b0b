// What was measured for a lesson, from its record: the findings as sentences, and folded away the figures, the picture,
// the lines of code and the slips.

import { scrollable, table } from "./answers.js";
import { html } from "./markup.js";

const MARKS = { holds: "✓", "does not hold here": "✗", "not decidable here": "?" };
const KINDS = { holds: "holds", "does not hold here": "not", "not decidable here": "open" };
const FIGURE = /^(?:[−+±<>≈~]?\s?\d[\d,.\s%×e±−–-]*\S{0,3}|–|)$/;

export function measured(lesson, record) {
  const { verdict: { word, why, findings }, how, slips, look } = lesson;
  return html`<section class="measured" aria-label="What was measured"><h3>What was measured</h3>
    <p class="soft">${word}${record.budget === "full" ? "" : " (on a small budget, which decides nothing)"}. ${prose(why)}</p>
    <ul class="findings">${findings.map(finding)}</ul>
    ${folded("How it was done", paragraphs(how))}
    ${folded("The picture", html`<figure class="still">${html([lesson.svg])}</figure>`)}
    ${lesson.tables.length ? folded("The figures", html`${lesson.tables.map(figures)}`) : ""}
    ${folded("The lines that matter", html`${lesson.code.map(listing)}`)}
    ${slips.length ? folded("Common slips", html`<ul class="slips">${slips.map((one) => html`<li>${prose(one)}</li>`)}</ul>`) : ""}
    ${folded("Try next", html`<p>${prose(lesson.try)}</p>${look ? html`<p>To see the attention itself:</p>${
      code(commandOf(look, record.run), "Command")}` : ""}`)}</section>`;
}

const folded = (title, content) => html`<details><summary>${title}</summary>${content}</details>`;
const paragraphs = (plain) => html`${plain.trim().split(/\n\s*\n/).map((one) => html`<p>${prose(one)}</p>`)}`;
const code = (source, label) => scrollable(label, html`<pre><code>${source}</code></pre>`);

const finding = ({ claim, word, why, checks }) => html`<li class="${KINDS[word]}"><span class="mark" aria-hidden="true">${
  MARKS[word]}</span><div><p><b>${prose(claim)}</b> <span class="verdict-word">${word}</span></p><p>${prose(why)}</p>
  <p class="fine">Measured: ${prose(checks.join("; "))}.</p></div></li>`;

// Columns of figures are right-aligned, columns with any text left-aligned.
function figures({ caption, columns, rows }) {
  const kind = columns.map((_, i) => rows.every((row) => FIGURE.test(row[i])) ? "figure" : "");
  const head = columns.map((one, i) => html`<th scope="col" class="${kind[i]}">${prose(one)}</th>`);
  return html`<p class="caption">${prose(caption)}</p>${table(caption.replace(/[*`]/g, ""), head, rows.map((row) =>
    html`<tr>${row.map((cell, i) => html`<td class="${kind[i]}">${prose(cell)}</td>`)}</tr>`))}`;
}

const listing = ({ name, file, line, source }) => html`<p class="caption"><code>${name}</code> in <code>${file}</code>, line
  ${line}</p>${code(source, name)}`;

const inShell = (word) => /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
const commandOf = ({ text, kind, layer, head }, run) =>
  `seq2see look ${inShell(run)} ${inShell(text)} --kind ${kind} --layer ${layer} --head ${head}`;

// Text of the record: `code` between backquotes, *emphasis* between stars, and numbers as in print: a true minus, powers
// of ten, a thin space before per cent.
export const prose = (plain) => html`${plain.split(/(`[^`]+`)/).map((part) =>
  part.startsWith("`") ? html`<code>${part.slice(1, -1)}</code>` : html`${emphasised(part)}`)}`;
const emphasised = (part) => part.split(/(\*[\p{L}\p{N}_“][^*]*\*)/u).map((one) =>
  /^\*.+\*$/.test(one) ? html`<em>${printed(one.slice(1, -1))}</em>` : printed(one));
function printed(part) {
  const plain = part.replace(/\b0(?:\.0)?e[+]00\b/g, "0").replace(/(\d) ?%/g, "$1\u202f%");
  return plain.replace(/(?<![\p{L}\p{N}_.&;)-])-(?=\d)/gu, "−").split(/\b(\d(?:\.\d+)?e[-−]0*\d+)/).map((one) => {
    const [, digits, power] = /^(\d(?:\.\d+)?)e[-−]0*(\d+)$/.exec(one) ?? [];
    return power ? html`${digits} × 10<sup>−${power}</sup>` : one;
  });
}
