// The explorer: one state, one frame, and what happens when something is clicked, typed or pointed at.

import { changed } from "./diff.js";
import { dock, dockActions } from "./dock.js";
import { GradioEngine, HttpEngine } from "./engine.js";
import { exported } from "./export.js";
import { learning } from "./learning.js";
import { lessons } from "./lessons.js";
import { header } from "./header.js";
import { headsCard, paintThumbs, pairsCard } from "./heads.js";
import { drawBetweenTexts, drawThreads, fit } from "./lines.js";
import { drawMap, eyebrow, followMap, headline, how, mapTools } from "./map.js";
import { html, isNarrow, paint } from "./markup.js";
import { MENUS, place, walk } from "./menus.js";
import { START, fromAddress, toAddress, traceOf } from "./state.js";
import { meaning } from "./meaning.js";
import { FRAME, flipOf, isNew, joins, paintTexts, same } from "./texts.js";
import { tips } from "./tips.js";
import { tour } from "./tour.js";
import { KINDS, Trace, hasHeads, headOf } from "./trace.js";
import { wordPanel } from "./word.js";

const REST = 400;    // milliseconds without a key press, after which the text is translated
const SLOW = 400;    // milliseconds after which the page says that it is waiting
const KEPT = 40;     // answers kept
const PAGES = { lessons };  // other pages, each drawn by (element, context)

const frame = html`<a class="skip" href="#s2s-map" data-do="skip">Skip to the map</a><header class="top-bar"></header>
  <main class="explore"><section class="card texts" aria-label="Your text and its translation">${FRAME}</section>
    <section class="card work" aria-label="Attention map"><div class="mapside"><div class="eyebrow"></div>
      <p class="say" aria-live="polite"></p><p class="how"></p>
      <div class="bar" role="toolbar" aria-label="Map options"></div><div class="mapbox" id="s2s-map"></div></div>
      <aside class="word" aria-label="The chosen word"></aside></section>
    <div class="side"><section class="card pairs" aria-label="Sentence pairs"></section>
      <section class="card heads" aria-label="All heads"></section></div></main>
  <div class="other" hidden></div>
  <div class="dockwrap"><div class="card drawer" hidden></div><div class="card dock"></div></div>
  <footer class="foot"></footer><div class="pop" hidden></div>
  <div class="tip" role="tooltip" id="s2s-tip" hidden></div><div class="tourbox" role="dialog" aria-label="Tour"
    hidden></div>`;

export function explorer(element, settings) {
  if (settings.learning) return learning(element, firstTheme());
  const root = element.appendChild(document.createElement("div")), find = (name) => root.querySelector(name);
  root.className = "s2s";
  root.innerHTML = String(frame);
  const engine = settings.api ? new HttpEngine(settings.api)
    : settings.gradio ? new GradioEngine(settings.gradio) : null;
  const isLocal = engine && ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const state = { ...START, theme: firstTheme(), ...settings.start };
  const context = { state, engine, root, set, render, open, ask, about,
    settings: { ...settings, engine: Boolean(engine) }, announce: (text) => paint(find(".say"), html`${text}`) };
  const answers = new Map();
  let running = null, typing = null, slow = null;

  // --- drawing

  function set(changes) { Object.assign(state, changes); render(); }

  function render() {
    const trace = traceOf(state), { settings } = context;
    root.dataset.theme = state.theme;
    document.body.style.background = state.theme === "dark" ? "#0d1218" : "#f4f6f9";
    paint(find(".top-bar"), header(state, settings));
    const exploring = state.page === "explore";
    for (const name of [".explore", ".dockwrap"]) find(name).hidden = !exploring;
    find(".other").hidden = exploring;
    if (!exploring) return PAGES[state.page]?.(find(".other"), context);
    paintTexts(find(".texts"), state, settings);
    root.classList.toggle("bare", !trace);
    root.classList.toggle("then", state.moment !== null);
    root.classList.toggle("no-pairs", !settings.pairs?.length);
    if (settings.pairs?.length) paint(find(".pairs"), pairsCard(state, settings));
    const settled = trace && !state.editing && state.moment === null && !isNew(state);
    paint(find(".meaning"), settled ? meaning(trace, settings, state.twin) : "");
    layTexts();
    if (trace) {
      paint(find(".eyebrow"), eyebrow(state));
      paint(find(".how"), how(state));
      paint(find(".bar"), mapTools(state));
      paint(find(".heads"), headsCard(state));
      paintThumbs(find(".heads"), state);
      drawMap(find(".mapbox"), state);
    }
    const isStale = state.busy === "looking" || (state.busy === "translating" && state.waited);
    find(".mapbox").classList.toggle("stale", Boolean(isStale));
    paint(find(".dock"), dock(state, settings));
    context.drawer?.(find(".drawer"), context);
    paint(find(".foot"), html`<span>${isLocal ? "Everything runs on this computer. " : ""}${
      engine ? "Nothing you type is kept." : ""}</span>
      <span>A map shows where a head looked, not why the model chose a word. Switching heads off tests that.</span>`);
    showMenu();
    follow();
  }

  function layTexts() {
    const texts = find(".texts"), lines = [...root.querySelectorAll(".line")].map((line) => line.textContent);
    const key = [root.clientWidth, state.editing, state.traces.length, ...lines].join();
    if (texts.key !== key) {
      texts.key = key;
      fit(texts);
      if (state.traces.length > 1) texts.classList.add("wrapped");
    }
    drawThreads(texts, state);
  }

  // What follows the pointer: lines, outline, sentence, word.
  function follow({ speak = false } = {}) {
    const trace = traceOf(state), say = find(".say");
    say.setAttribute("aria-live", speak ? "polite" : "off");
    paint(say, said(trace));
    if (!trace) return;
    drawBetweenTexts(find(".texts"), state, joins(state));
    if (state.as === "lines") drawMap(find(".mapbox"), state); else followMap(find(".mapbox"), state);
    paint(find(".word"), wordPanel(state, context.settings));
    say.className = `say tone-${hasHeads(state.view) ? trace.tone(state.head, state.word) : "blue"}`;
  }

  function said(trace) {
    const chip = (id, label) => html`<button class="chip" data-do="${id}" data-k="${id}">${label}</button>`;
    if (state.error) return html`${state.error} ${chip("again", "Try again")}`;
    if (state.busy && state.waited && state.busy !== "weighing") {
      const what = state.busy === "translating" ? "Translating…" : "Looking at every head…";
      return html`<span class="soft">${what}</span> ${chip("cancel", "Cancel")}`;
    }
    if (trace) return headline(state);
    const empty = "This text has no words: it comes back unchanged, and there is nothing to look at.";
    return html`<span class="soft">${state.text && !state.busy ? empty : ""}</span>`;
  }

  function hover(value) {
    if (JSON.stringify(value) === JSON.stringify(state.hover)) return;
    state.hover = value;
    if (traceOf(state)) follow();
  }

  // --- asking

  function ask(route, body, signal) {
    const key = JSON.stringify([route, body]);
    if (answers.has(key)) return Promise.resolve(answers.get(key));
    return engine.ask(route, body, signal).then((answer) => {
      answers.set(key, answer);
      if (answers.size > KEPT) answers.delete(answers.keys().next().value);
      return answer;
    });
  }

  const modelFor = (text) => state.model || (flipOf(settings, text) && settings.exampleModel) || undefined;
  function asked(text) {
    const { source, target, prefix, options } = state;
    const given = { source, target, model: modelFor(text), prefix: prefix || undefined, ...options };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  }

  // Translates a text and traces it; requests for an older text are aborted.
  async function open(text, changes = {}) {
    if (!engine) return;
    running?.abort();
    const mine = running = new AbortController(), { signal } = mine, before = state.reply?.translation?.text || "";
    clearTimeout(slow);
    slow = setTimeout(() => { if (running === mine && state.busy) { state.waited = true; render(); } }, SLOW);
    set({ alternative: 0, prefix: null, forced: null, error: null, changed: [], waited: false, moment: null,
      hover: null, text, busy: "translating", ...changes });
    if (!text.trim()) return set({ busy: null, reply: null, traces: [] });
    try {
      const body = asked(text), first = await ask("translate", { ...body, texts: [text] }, signal);
      const [translation] = first.translations;
      if (!translation.hypotheses.length) return set({ busy: null, reply: { translation }, traces: [] });
      const shown = { ...translation, text: translation.hypotheses[state.alternative]?.text || translation.text };
      set({ busy: "looking", reply: { translation: shown } });
      const answer = await ask("look", { ...body, text, alternative: state.alternative, maps: KINDS }, signal);
      arrived(answer, { before, changes });
      await weigh(signal);
    } catch (error) {
      if (error.name !== "AbortError" && running === mine) set({ busy: null, error: error.message });
    } finally {
      if (running === mine) running = null;
    }
  }

  function arrived(answer, { before = "", changes = {} } = {}) {
    const traces = answer.traces.map((one) => new Trace(one, answer.measured)), [trace] = traces;
    const [layers, heads] = trace.sizes[state.head.kind], text = traces.map((one) => one.target).join(" ");
    const keeps = changes.word !== undefined && changes.word < trace.record.target.length;
    const it = trace.words("source").find((one) => /^it$/i.test(one.text));
    const next = {
      reply: { ...state.reply, ...answer, translation: answer.translation || state.reply?.translation },
      traces, part: 0, busy: "weighing", waited: false, word: keeps ? changes.word : trace.first,
      read: it?.pieces[0] ?? 0,
      changed: before && before !== text && traces.length === 1 ? changed(before, text).map(([start]) => start) : [],
    };
    if (state.head.layer >= layers || state.head.head >= heads) {
      next.head = { kind: "cross", layer: trace.sizes.cross[0] - 1, head: 0 };
    }
    if (!hasHeads(state.view) || !trace.holds(state.view)) next.view = "raw";
    set(next);
    if (changes.view && changes.view !== "raw") choose({ view: changes.view });
  }

  // The evidence for each word: takes longer than the maps, and follows them.
  async function weigh(signal) {
    const trace = traceOf(state);
    if (!trace || trace.evidence || !engine) return set({ busy: null });
    const flip = flipOf(settings, trace.source);
    const more = { evidence: true, others: flip ? [flip.text] : [], maps: [] };
    const quiet = (error) => {
      if (error.name === "AbortError") throw error;
      return null;  // the page works without it
    };
    const answer = await ask("look", { ...about(trace), ...more }, signal).catch(quiet);
    if (answer && !trace.add(answer.traces[0])) {  // different tokens: translate the same text again
      const body = { ...asked(trace.source), text: trace.source, alternative: state.alternative, ...more };
      const again = await ask("look", body, signal).catch(quiet);
      if (again) trace.add(again.traces[0]);
    }
    if (flip) prepare(flip.text, signal);
    set({ busy: null, waited: false, ...telling(trace) });
  }

  // The head that matters most for the chosen word, unless the reader has picked one.
  function telling(trace) {
    const [best] = trace.telling(state.word);
    return best && !state.pinned ? { head: { kind: best.kind, layer: best.layer, head: best.head } } : {};
  }

  // Traces the other sentence of a pair in advance: the line below the texts says what *it* means there.
  async function prepare(text, signal) {
    const body = asked(text), look = { ...body, text, alternative: 0, maps: KINDS };
    const both = Promise.all([ask("translate", { ...body, texts: [text] }, signal), ask("look", look, signal)]);
    const [first, answer] = await both.catch(() => []);
    if (!first || flipOf(settings, text)?.text !== state.text || answer.traces.length !== 1) return;
    set({ twin: new Trace(answer.traces[0], answer.measured) });
  }

  // The trace's text, translation, languages and model, as the model read them.
  function about({ languages: [source, target], record: { source_text: text, target_text: translation, model } }) {
    return { text, translation, source: source || undefined, target: target || undefined, model: model || undefined };
  }

  async function choose(changes) {
    const trace = traceOf(state), { view } = changes;
    if (view === "left_out" || (view && !hasHeads(view) && state.head.kind === "encoder")) {
      changes = { ...changes, head: { kind: "cross", layer: 0, head: 0 } };
    }
    if (view && !trace.holds(view)) {
      set({ waited: true, busy: "looking", menu: null });
      try {
        const answer = await ask("look", { ...about(trace), views: ["raw", view], maps: KINDS });
        if (!trace.add(answer.traces[0])) throw new Error("This view cannot be shown for this translation.");
      } catch (error) {
        return set({ busy: null, waited: false, error: error.message });
      }
    }
    set({ busy: null, waited: false, error: null, hover: null, ...changes });
  }

  // --- actions, by the name in a control's data-do

  const startTour = tour(root);
  const again = () => open(state.text, { alternative: state.alternative, prefix: state.prefix, forced: state.forced });
  const search = (options) => { set({ options }); again(); };
  const actions = {
    edit: () => set({ editing: true, draft: state.text, menu: null }),
    copy: (button) => copied(button, state.reply?.translation?.text || traceOf(state)?.target || ""),
    share: (button) => copied(button, `${location.href.split(/[?#]/)[0]}?${toAddress(state)}`),
    theme: () => {
      set({ theme: state.theme === "dark" ? "light" : "dark" });
      try { localStorage.setItem("s2s-theme", state.theme); } catch { /* a sandboxed frame keeps nothing */ }
    },
    tour: startTour,
    skip: () => find("[role=grid]")?.focus(),
    list: (button) => set({ list: button.dataset.value === "true" }),
    temperature: (input) => set({ temperature: traceOf(state).record.temperatures[+input.value] }),
    alternative: (button) => open(state.text, { alternative: +button.dataset.value, menu: null }),
    search: ({ dataset: { value } }) => {
      const { num_beams, ...rest } = state.options, { alternatives } = settings;
      search(value === "draw" ? { ...rest, temperature: 1, seed: 1, alternatives } : {});
    },
    beams: ({ dataset: { value } }) =>
      search({ num_beams: +value, alternatives: Math.min(+value, settings.alternatives) }),
    option: ({ dataset: { name }, value }) => {
      const { [name]: _, ...rest } = state.options;
      search(value === "" ? rest : { ...rest, [name]: +value });
    },
    prefix: (input) => open(state.text, { prefix: input.value.trim() || null, menu: null }),
    unforce: () => open(state.text),
    from: (button) => set({ source: button.dataset.value || null, menu: null }) ?? again(),
    to: (button) => set({ target: button.dataset.value, menu: null }) ?? again(),
    model: (button) => set({ model: button.dataset.value, menu: null }) ?? again(),
    export: (button) => { set({ menu: null }); exported(button.dataset.value, context); },
    again,
    cancel: () => { running?.abort(); set({ busy: null, waited: false }); },
    ...dockActions(context),
  };

  async function copied(button, text) {
    try { await navigator.clipboard.writeText(text); } catch {
      const field = root.appendChild(document.createElement("textarea"));
      field.value = text; field.select(); document.execCommand("copy"); field.remove(); button.focus();
    }
    const label = button.querySelector("span"), was = label.innerHTML;
    label.textContent = "Copied";
    setTimeout(() => { label.innerHTML = was; }, 1400);
  }

  // Replaces the chosen word with this one and translates the rest again.
  function force(text) {
    const trace = traceOf(state), unit = trace.unitAt("target", state.word);
    open(trace.source, { prefix: trace.target.slice(0, unit.start) + text, forced: text, word: state.word });
  }

  function pick(head) {
    set({ head, pinned: true, hover: null, view: hasHeads(state.view) ? state.view : "raw" });
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    if (isNarrow(root)) find(".work").scrollIntoView({ behavior });
  }
  function pickPart(part) {
    const trace = state.traces[part];
    running?.abort();
    running = new AbortController();
    set({ part, word: trace.first, read: 0, hover: null, busy: "weighing" });
    weigh(running.signal).catch(() => {});
  }
  function pickWord(side, piece) {
    state.hover = null;
    if (side === "source") set({ read: piece });
    else if (state.head.kind !== "encoder") set({ word: piece });
    else set({ word: piece, head: traceOf(state).telling(piece)[0] || { kind: "cross", layer: 0, head: 0 } });
  }

  // --- events

  function showMenu() {
    const pop = find(".pop"), button = state.menu && find(`[data-menu="${state.menu}"]`), was = pop.dataset.of;
    pop.hidden = !button;
    pop.dataset.of = state.menu || "";
    if (!button) { pop.painted = null; return; }
    paint(pop, MENUS[state.menu](state, context.settings));
    pop.setAttribute("role", "menu");
    pop.setAttribute("aria-label", button.textContent.trim());
    place(pop, button);
    if (was === state.menu) return;
    (pop.querySelector("[aria-checked=true]") || pop.querySelector("[role^=menuitem], input, button"))?.focus();
  }
  function closeMenu() {
    const was = state.menu;
    set({ menu: null });
    find(`[data-menu="${was}"]`)?.focus();
  }

  // What a click does, by the control's data attribute.
  const clicks = {
    menu: (menu) => set({ menu: state.menu === menu ? null : menu }),
    set: (name, { dataset: { value } }) => choose({ [name]: value, menu: name === "view" ? null : state.menu }),
    do: (action, own, event) => actions[action]?.(own, event),
    head: (name) => pick(headOf(name)),
    word: (piece) => pickWord("target", +piece),
    part: (part) => pickPart(+part),
    example(text) {
      const [source, target] = settings.pairLanguages ?? [state.source, state.target];
      open(text, { source, target, pinned: false, editing: false });
    },
    force,
    page: (page) => set({ page, menu: null }),
  };
  const controls = Object.keys(clicks).map((name) => `[data-${name}]`).join();
  root.addEventListener("click", (event) => {
    const at = (name) => event.target.closest(name), own = at(controls);
    if (own && !own.matches("input,select")) {
      if (own.tagName === "A") event.preventDefault();
      const [name] = Object.keys(clicks).filter((one) => own.dataset[one] !== undefined);
      return clicks[name](own.dataset[name], own, event);
    }
    const span = at(".w"), row = at("[data-row]");
    if (span) return pickWord(span.dataset.side, +span.dataset.piece);
    if (row) return pickRow(+row.dataset.row);
    if (state.menu && !at(".pop")) set({ menu: null });
  });
  function pickRow(i) {
    const { kind } = state.head, row = traceOf(state).rows(kind, state.unit, state.rows)[i];
    pickWord(kind === "encoder" ? "source" : "target", row.pieces[0]);
  }
  root.addEventListener("input", ({ target }) => {
    if (target.matches(".field")) {
      state.draft = target.value;
      target.style.height = "auto"; target.style.height = `${target.scrollHeight}px`;
      clearTimeout(typing);
      typing = setTimeout(() => open(target.value, { pinned: false }), REST);
    } else if (target.type === "range") actions[target.dataset.do]?.(target);
  });
  root.addEventListener("change", ({ target }) => {
    if (target.dataset.toggle) set({ [target.dataset.toggle]: target.checked });
    else if (target.dataset.do && target.type !== "range") actions[target.dataset.do]?.(target);
  });
  function endEditing(keep) {
    clearTimeout(typing);
    const text = (state.draft ?? "").trim();
    set({ editing: false });
    if (keep && text && text !== state.text) open(text, { pinned: false }); else if (!keep) again();
  }
  root.addEventListener("focusout", (event) => {
    if (!event.target.matches(".field") || !state.editing) return;
    setTimeout(() => {
      if (state.editing && root.getRootNode().activeElement !== find(".field")) endEditing(true);
    }, 120);
  });

  root.addEventListener("pointermove", ({ target, pointerType }) => {
    if (pointerType === "touch") return;
    const at = (name) => target.closest(name);
    const span = at(".w"), cell = at(".mapbox [data-column]"), row = at(".mapbox [data-row]");
    if (span) hover({ side: span.dataset.side, piece: +span.dataset.piece });
    else if (row && cell && !cell.matches(".masked")) hover({ row: +row.dataset.row, column: +cell.dataset.column });
    else if (row) hover({ row: +row.dataset.row });
    else if (!root.querySelector("[role=grid]:focus-visible")) hover(null);
  });
  root.addEventListener("pointerleave", () => hover(null));

  root.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key === "Escape" && state.menu) { event.stopPropagation(); return closeMenu(); }
    if (target.closest(".pop")) return walk(find(".pop"), event);
    if (target.matches(".field")) {
      if (key === "Escape") { state.draft = state.text; endEditing(false); }
      if (key === "Enter" && !event.shiftKey) { event.preventDefault(); endEditing(true); }
      return;
    }
    if (key === "Escape" && state.drawer) return actions.lab?.({ dataset: { value: state.drawer } });
    if (target.dataset.do === "seek") {
      const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: "first", End: "last" }[key];
      if (by) { event.preventDefault(); actions.moment(by); }
      return;
    }
    if (target.matches(".w")) return wordKey(event);
    if (target.matches("[role=grid]")) return gridKey(event);
    if (target.matches(".th")) headKey(event);
  });
  root.addEventListener("focusin", ({ target }) => {
    if (target.matches(".w:focus-visible")) hover({ side: target.dataset.side, piece: +target.dataset.piece });
  });
  root.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (target.matches(".w,[role=grid]") && !relatedTarget?.matches?.(".w,[role=grid]")) hover(null);
  });

  // Moves the focus among controls that share one tab stop; returns the newly focused control.
  function move(event, selector, step) {
    if (!step) return null;
    event.preventDefault();
    const all = [...root.querySelectorAll(selector)], next = all[all.indexOf(event.target) + step];
    if (!next) return null;
    all.forEach((one) => { one.tabIndex = one === next ? 0 : -1; });
    next.focus();
    return next;
  }

  function wordKey(event) {
    const { key, target: { dataset: { side, piece } } } = event;
    if (key === "Enter" || key === " ") { event.preventDefault(); return pickWord(side, +piece); }
    const onward = getComputedStyle(event.target).direction === "rtl" ? -1 : 1;
    const next = move(event, `.w[data-side=${side}]`, { ArrowLeft: -onward, ArrowRight: onward }[key]);
    if (!next) return;
    hover({ side, piece: +next.dataset.piece });
    follow({ speak: true });
  }

  function gridKey(event) {
    const map = traceOf(state).map(state.head, state), { key, ctrlKey } = event, onward = map.mirrored ? -1 : 1;
    const stepped = { "[": [stepHead, -1], "]": [stepHead, 1], ",": [stepWord, -1], ".": [stepWord, 1] }[key];
    if (stepped) { event.preventDefault(); return stepped[0](stepped[1]); }
    if (key === "Escape") { hover(null); return event.target.blur(); }
    const chosen = state.head.kind === "encoder" ? state.read : state.word;
    const rowNow = state.hover?.row ?? map.rows.findIndex((one) => one.pieces.includes(chosen));
    const columnNow = state.hover?.column ?? -1;
    if (key === "Enter" || key === " ") { event.preventDefault(); return pickRow(Math.max(0, rowNow)); }
    const [last, end] = [map.rows.length - 1, map.columns.length - 1];
    const to = { ArrowUp: [rowNow - 1, columnNow], ArrowDown: [rowNow + 1, columnNow],
      ArrowLeft: [rowNow, columnNow - onward], ArrowRight: [rowNow, columnNow + onward],
      Home: [ctrlKey ? 0 : rowNow, 0], End: [ctrlKey ? last : rowNow, end] }[key];
    if (!to) return;
    event.preventDefault();
    hover({ row: Math.max(0, Math.min(last, to[0])), column: Math.max(0, Math.min(end, to[1])) });
    follow({ speak: true });
    root.querySelector("#s2s-cell")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function headKey(event) {
    const { target, key } = event, [, heads] = traceOf(state).sizes[headOf(target.dataset.head).kind];
    if (key === "[" || key === "]") { event.preventDefault(); return stepHead(key === "]" ? 1 : -1); }
    move(event, ".th", { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -heads, ArrowDown: heads }[key]);
  }
  const after = (all, isChosen, by) => all[(all.findIndex(isChosen) + by + all.length) % all.length];
  const stepHead = (by) => pick(after(traceOf(state).heads, (one) => same(one, state.head), by));
  const stepWord = (by) =>
    pickWord("target", after(traceOf(state).written, (one) => one.pieces.includes(state.word), by).pieces[0]);

  // --- start

  tips(root);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(root.clientWidth - width) <= 1) return;
    width = root.clientWidth;
    find(".mapbox").key = null;
    render();
  }).observe(root);
  addEventListener("resize", () => { if (state.page === "explore") render(); });
  document.fonts?.ready.then(() => { find(".texts").key = null; render(); });
  begin();

  function begin() {
    const wish = settings.embedded ? {} : fromAddress(location.search), { text, ...rest } = wish, { first } = settings;
    Object.assign(state, rest, first?.twin ? { twin: new Trace(first.twin, first.measured) } : {});
    if (first && (!text || text === first.traces[0].source_text)) {
      const { source_text, source_language, target_language } = first.traces[0];
      Object.assign(state, { text: source_text, source: source_language || null, target: target_language || null,
        reply: first });
      arrived(first, { changes: wish });
      const trace = traceOf(state), flip = flipOf(settings, state.text);
      if (engine && !trace.evidence) return weigh(new AbortController().signal);
      set({ busy: null, ...telling(trace) });
      if (engine && flip) prepare(flip.text);
    } else if (text || settings.text) open(text || settings.text, wish); else set({ editing: Boolean(engine) });
  }
  return context;
}

function firstTheme() {
  let kept = null;
  try { kept = localStorage.getItem("s2s-theme"); } catch { /* a sandboxed frame keeps nothing */ }
  return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
