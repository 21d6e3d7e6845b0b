// A file to translate: where it is dropped or chosen, with which glossary, how far it is, the link that saves its
// translation, and what became of its texts.  The server has the formats; a page without one has no such place.

import { language, targetsOf } from "../common/languages.js";
import { html, icon, listed, paint, putAt } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { count } from "../common/wording.js";

// The box; its parts are painted separately, so that a screen reader hears what changes.
export const UPLOAD = html`<section class="upload" role="dialog" aria-label="Translate a file" hidden><div class="hd"><h2>
  Translate a file</h2><button class="icon" data-do="upload" data-k="upload-close" aria-label="Close">${icon("close")}
  </button></div><div class="zone"></div><input type="file" hidden data-do="uploaded"><div class="with"></div><input type="file"
  hidden accept=".tsv,.txt" data-do="glossed"><div class="sent" role="status"></div><div class="report"></div></section>`;

// Source and target, as chosen beside the text.
function languagesOf(state, settings) {
  const [source, target] = traceOf(state)?.languages || [state.source, state.target];
  return [state.source && source, target || targetsOf(settings.models, source)[0]];
}

export function drawUpload(root, state, settings) {
  const box = root.querySelector(".upload"), button = root.querySelector("[data-menu=more]");
  box.hidden = !(state.upload && state.page === "see" && button);
  if (box.hidden) return;
  const { formats, bytes } = settings.files, [source, target] = languagesOf(state, settings);
  box.querySelector("input").accept = formats.map((one) => `.${one}`).join();
  paint(box.querySelector(".zone"), html`<p>Drop a file here, or <button class="chip" data-do="choose"
    data-k="choose">Choose a file</button></p><p class="fine">${source ? html`From ${language(source)} into`
      : "Into"} <b>${language(target)}</b>, as chosen beside the text.</p><p class="fine">Up to ${megabytes(bytes)}:
    ${formats.join(", ")}</p>`);
  paint(box.querySelector(".with"), glossaryOf(state));
  paint(box.querySelector(".sent"), sent(state.sent, settings.files));
  paint(box.querySelector(".report"), reportOf(state.sent));
  const at = button.getBoundingClientRect(), below = at.bottom + 6;
  putAt(box, at.right - box.offsetWidth, Math.max(8, Math.min(below, innerHeight - box.offsetHeight - 12)));
}

const glossaryOf = ({ glossary }) => glossary ? html`<p>Glossary: <b>${glossary.name}</b> <button class="chip"
  data-do="unglossed" data-k="glossary">Remove</button></p>` : html`<p><button class="chip" data-do="gloss"
  data-k="glossary">Choose a glossary</button> <span class="fine">Optional: rows of a term, a TAB and its
  translation.</span></p>`;

// What became of the texts of a translated file.
function reportOf(one) {
  if (!one?.report) return "";
  const { target } = one, { texts, doubtful, left, places, preview } = one.report, some = (key) => places.filter((place) => place[key]);
  if (!texts) return left ? group("left", left, some("left")) : html`<p>The file has no text to translate.</p>`;
  return html`${group("preview", preview.length, preview, target)}${
    group("doubtful", doubtful, some("doubtful"), target)}${group("left", left, some("left"))}`;
}

const HEADINGS = {
  preview: (n) => n > 1 ? `The first ${count(n)} texts` : "The first text",
  doubtful: (n) => n > 1 ? `${count(n)} translations are doubtful` : "1 translation is doubtful",
  left: (n) => n > 1 ? `${count(n)} texts are not translated` : "1 text is not translated",
};

// The texts of a kind; the server sends the first ones alone.
function group(kind, n, some, target) {
  if (!n) return "";
  const line = ({ place, text, translation, doubtful, left }) => html`<li>${place && html`<span class="fine">${place}
    </span>`}${text && html`<span>${text}</span>`}${translation && html`<span lang="${target}" dir="auto">${
      translation}</span>`}${[doubtful || left || []].flat().map((why) => html`<span class="fine">${why}</span>`)}</li>`;
  return html`<details ${kind === "preview" ? html`open` : ""}><summary data-k="report-${kind}">${HEADINGS[kind](n)}
    </summary><ul>${some.map(line)}</ul>${some.length < n && html`<p class="fine">The first ${count(some.length)} of
    ${count(n)}</p>`}</details>`;
}

const megabytes = (bytes) => bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))}\u00a0kB` : `${count(+(bytes / 1e6).toFixed(1))}\u00a0MB`;

function sent(one, { seconds }) {
  if (!one) return "";
  const { name, error, share, href } = one;
  if (error) return html`<p class="warn">${error}</p>`;
  if (href) {
    const minutes = Math.max(1, Math.floor(seconds / 60));
    return html`<p><b>${name}</b> is translated.</p><p><a class="chip solid" href="${href}" download data-k="download">Save
      the translation</a> <span class="fine">The server deletes it after ${minutes > 1 ? `${count(minutes)} minutes`
        : "a minute"}.</span></p>`;
  }
  const progress = share < 1 ? html`value="${share.toFixed(2)}"` : "";
  return html`<p>${share < 1 ? "Sending" : "Translating"} <b>${name}</b>…</p><div class="row2"><progress
    aria-label="Progress" ${progress}></progress><button class="chip" data-do="unsend" data-k="unsend">Cancel</button></div>`;
}

export function uploadActions({ state, settings, root, set }) {
  const { files } = settings, focus = (name) => root.querySelector(`[data-k=${name}]`)?.focus();
  const focused = () => root.getRootNode().activeElement, isInside = () => focused()?.closest(".upload");
  let running = null;

  // The focus goes to what is new where it was inside, or where what had it is gone.
  function put(sent) {
    const was = isInside(), isEnd = sent?.href || sent?.error;
    set({ upload: Boolean(state.upload || isEnd), sent });
    if (was && (sent?.href || !isInside())) focus(sent?.href ? "download" : "choose");
  }

  function take(given) {
    const [file, ...others] = given;
    if (!file) return;
    running?.abort();
    const error = others.length ? "Choose one file at a time." : refusalOf(file, files);
    if (error) put({ error }); else translate(file);
  }

  function translate(file) {
    const request = running = new XMLHttpRequest(), form = new FormData();  // fetch does not say how much is sent
    const [source, target] = languagesOf(state, settings), { name } = file;
    const { model, glossary } = state;
    const fields = { source: source || "auto", target, ...model && { model }, ...glossary && { glossary }, file };
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    const show = (more) => running === request && put({ name, target, ...more });
    request.upload.onprogress = ({ loaded, total }) => show({ share: loaded / total });
    request.upload.onload = () => show({ share: 1 });
    request.onload = request.onerror = () => {
      const answer = answerOf(request, files);
      show(answer);
      if (answer.href) setTimeout(() => { if (state.sent?.href === answer.href) set({ sent: { error: html`The server has
        deleted the translation of <b>${name}</b>. Choose the file again.` } }); }, files.seconds * 1e3);
    };
    request.open("POST", files.address);
    request.send(form);
    set({ upload: true, menu: null });
    put({ name, share: 0 });
  }

  return {
    take,
    upload() {
      set({ upload: !state.upload, menu: null });
      focus(state.upload ? "choose" : "more");
    },
    choose: () => root.querySelector("[data-do=uploaded]").click(),
    uploaded(input) { take([...input.files]); input.value = ""; },
    gloss: () => root.querySelector("[data-do=glossed]").click(),
    glossed(input) {
      if (input.files[0]) set({ glossary: input.files[0] });
      input.value = "";
    },
    unglossed: () => set({ glossary: null }),
    unsend() {
      running.abort();
      running = null;
      put(null);
    },
  };
}

// Why a file is not worth sending, if it is not.
function refusalOf({ name, size }, { formats, bytes }) {
  const format = /\.([^.]+)$/.exec(name)?.[1].toLowerCase();
  if (!formats.includes(format)) {
    return html`<b>${name}</b>: Seq2See cannot translate this format. Choose one of ${listed(formats, (one) => one)}.`;
  }
  return size > bytes && html`<b>${name}</b> is ${megabytes(size)} long. The limit is ${megabytes(bytes)}.`;
}

function answerOf({ status, responseText }, { downloads }) {
  let answer = null;
  try { answer = JSON.parse(responseText); } catch { /* a proxy's page, or nothing */ }
  if (status === 200 && answer) {
    return { href: downloads + answer.translatedFileUrl.split("/").at(-1), report: answer.report };
  }
  return { error: answer?.error || (status === 413 ? "The file is too large for a proxy before this server."
    : "The server did not answer.") };
}

// A file may be dropped anywhere on the page.
export function listenToFiles({ state, root, set, settings, actions }) {
  if (!settings.files || settings.embedded) return;
  const over = (on) => root.classList.toggle("dropping", on);
  const isFile = ({ dataTransfer }) => state.page === "see" && dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    over(true);
    if (!state.upload) set({ upload: true, menu: null });
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => { if (!relatedTarget) over(false); });
  document.addEventListener("drop", (event) => {
    over(false);
    if (!isFile(event)) return;
    event.preventDefault();
    actions.take([...event.dataTransfer.files]);
  });
}
