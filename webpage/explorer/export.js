// Exports a translation: the picture, the numbers, every map, the page, the same in Python.

import { CARD, css } from "../common/colour.js";
import { COLOURS, VIEWS } from "../data.js";
import { mapOf } from "../maps/difference.js";
import { points, toneOf } from "../maps/map.js";
import { html } from "../common/markup.js";
import { FONT, cells } from "../common/small_map.js";
import { lookOf, traceOf } from "../common/state.js";
import { hasHeads } from "../common/trace.js";
import { direction, headName, number } from "../common/wording.js";

const CELL = 26;
const END = "<\x2fscript>";  // written so that this script can itself stand in a script element

// The card, as it stands in the dialog.
export const saveCard = (form, svg) => form === "png" ? asPng(withFonts(svg)) : save("seq2see.svg", withFonts(svg), "image/svg+xml");

// With the fonts of the page, which a picture would not find.
function withFonts(svg) {
  const rules = [...document.styleSheets].flatMap((sheet) => { try { return [...sheet.cssRules]; } catch { return []; } });
  const faces = rules.filter((one) => one instanceof CSSFontFaceRule && one.cssText.includes("Seq2See")).map((one) => one.cssText);
  return svg.replace(">", `><style>${faces.join("")}</style>`);
}

export function exported(form, context) {
  const state = lookOf(context.state), trace = traceOf(state);
  ({
    csv: () => save("seq2see.csv", csv(state, trace), "text/csv"),
    json: () => save("seq2see.json", JSON.stringify(trace.record), "application/json"),
    svg: () => save("seq2see.svg", String(picture(state, trace)), "image/svg+xml"),
    png: () => asPng(String(picture(state, trace))),
    html: () => save("seq2see.html", pageOf(context), "text/html"),
    python: () => copy(context.root, python(state, trace)).then(() => context.announce("Copied as Python.")),
  })[form]();
}

const titleOf = ({ head, view }, trace) => `${hasHeads(view) ? headName(head, trace)
  : direction(head.kind, trace.languages)}: ${VIEWS[view].title.toLowerCase()}`;

// A text that a spreadsheet would run as a formula stays text.
const quoted = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : String(text)).replaceAll('"', '""')}"`;
function csv(state, trace) {
  const map = mapOf(state);
  const head = [titleOf(state, trace), ...map.columns.map((one) => one.label)].map(quoted);
  const rows = map.at.map((row, i) => [quoted(map.rows[i].label), ...row.map((value) => value?.toPrecision(4) ?? "")]);
  return [head, ...rows].map((row) => row.join(",")).join("\r\n");
}

function picture(state, trace) {
  const map = mapOf(state), { theme, view } = state;
  const left = 130, top = 120, width = left + map.columns.length * CELL + 60;
  const height = top + map.rows.length * CELL + 16;
  const { ink } = COLOURS[theme];
  const written = (_, r, c) => map.isDifference ? points(map.at[r][c]) : number(view, map.at[r][c]);
  const shares = map.at.map((row) => row.map((value) => value === null ? null : value / map.most));
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" fill="${ink}"
    viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="13"><rect width="${width}" height="${height}"
    fill="${css(CARD[theme])}"/><text x="16" y="26" font-size="15" font-weight="700">${titleOf(state, trace)}</text>${
    cells(map, shares, { size: CELL, left, top, theme, tone: toneOf(state), written, numbers: true })}</svg>`;
}

function asPng(svg) {
  const image = new Image(), scale = 2;
  image.onload = () => {
    const size = { width: image.width * scale, height: image.height * scale };
    const canvas = Object.assign(document.createElement("canvas"), size), brush = canvas.getContext("2d");
    brush.scale(scale, scale);
    brush.drawImage(image, 0, 0);
    canvas.toBlob((blob) => save("seq2see.png", blob));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

// A standalone page: the explorer with this trace, without a server.
function pageOf({ state, settings }) {
  const trace = traceOf(state), { head, unit } = state;
  const styles = settings.css || document.getElementById("s2s-style").textContent;
  trace.record.evidence = trace.evidence;
  const first = { ...state.reply, traces: [trace.record], measured: trace.measured };
  const data = { first, models: [], embedded: true, start: { head, chosen: true, unit } };
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
    + "font-src data:";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport"
    content="width=device-width, initial-scale=1"><meta http-equiv="Content-Security-Policy" content="${policy}">
    <title>Seq2See</title><style>body { margin: 0 }\n${styles}</style></head><body><div id="explorer"></div>
    <script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}${END}
    <script>(() => { "use strict";\n${settings.script.replaceAll("</", "<\\/")}
explorer(document.getElementById("explorer"), JSON.parse(document.getElementById("data").textContent));
    })();${END}</body></html>`;
}

function python(state, trace) {
  const text = JSON.stringify, { kind, layer, head } = state.head, [source, target] = trace.languages;
  return ["from seq2see import Translator", "",
    `translator = Translator.from_pretrained(${text(trace.record.model || "everyday")})`,
    `result = translator(${text(trace.source)}, source=${text(source)}, target=${text(target)})`,
    "trace, = translator.look(result)", `print(trace.target_text, trace.maps(${text(kind)})[${layer}, ${head}])`, "",
  ].join("\n");
}

export async function copy(root, text) {
  try { await navigator.clipboard.writeText(text); } catch {  // a page without TLS has no clipboard
    const field = root.appendChild(document.createElement("textarea")), was = document.activeElement;
    field.value = text; field.select(); document.execCommand("copy"); field.remove(); was?.focus();
  }
}

function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
