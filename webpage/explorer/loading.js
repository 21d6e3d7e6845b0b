// What the page asks the server, and what becomes of the answers: a translation, its traces, the evidence, a view.

import { flipOf } from "../common/flips.js";
import { changed } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { same } from "./texts.js";
import { KINDS, Trace, hasHeads, isAttribution } from "../common/trace.js";

const SLOW = 400;    // milliseconds after which the page says that it is waiting
const KEPT = 40;     // answers kept
const LONG = 3600;   // seconds that the reader may wait for what was asked for

export function loading({ state, settings, engine, set, render }) {
  const answers = new Map();
  let running = new AbortController();  // aborts all that was asked about the text
  let slow = null, opening = false;  // `opening`: the page still shows an older text

  async function ask(route, body, signal = running.signal) {
    const key = JSON.stringify([route, body]), answer = answers.get(key) ?? await engine(route, body, signal);
    answers.set(key, answer);
    if (answers.size > KEPT) answers.delete(answers.keys().next().value);
    return answer;
  }

  function asked(text) {
    const { source, target, prefix, options } = state, [from, to] = settings.pairLanguages || [];
    const isExample = flipOf(settings, text) && [null, from].includes(source) && [null, to].includes(target);
    const example = isExample && settings.exampleModel;
    return { source: source || undefined, target: target || undefined, model: state.model || example || undefined,
      prefix: prefix || undefined, ...options };
  }

  // How the trace's text was translated: another text, or other heads, are compared with it under the same options.
  function asTranslated({ source: text, languages: [source, target], record: { model } }) {
    const { prefix, options } = state, begun = state.part === 0 && prefix;
    return { text, source: source || undefined, target: target || undefined, model: model || undefined,
      prefix: begun || undefined, ...options };
  }

  // The trace's text and its translation as the model read and wrote them, to the token.
  function about({ languages: [source, target], record }) {
    const { source_text: text, target_text: translation, target_ids, given, model } = record;
    return { text, translation, target_ids, given, source: source || undefined, target: target || undefined,
      model: model || undefined };
  }

  // --- a text

  // The first text: kept from before a reload, of the address, as shipped with the page, or none yet.
  function begin(wish) {
    const { text, ...rest } = wish, { first } = settings;
    Object.assign(state, rest, first?.twin ? { twin: new Trace(first.twin, first.measured) } : {});
    if (first && isWished(first, wish)) {
      const { source_text, source_language, target_language } = first.traces[0];
      Object.assign(state, { text: source_text, source: source_language || null, target: target_language || null });
      arrived(first, { changes: wish });
      const trace = traceOf(state), flip = flipOf(settings, state.text);
      if (engine && !trace.evidence) return weigh(running.signal).catch(() => {});
      set({ busy: null, ...focusOf(trace) });
      if (engine && flip) prepare(flip.text);
    } else {
      const own = text || settings.text || first?.traces[0].source_text;
      if (own) open(own, wish); else set({ editing: Boolean(engine) && !settings.embedded });
    }
  }

  // Whether the answer shipped with the page is the one wished for.
  function isWished({ traces: [{ source_text, source_language, target_language, model }] }, wish) {
    const pairs = [[wish.text, source_text], [wish.source, source_language], [wish.target, target_language],
      [wish.model, model]];
    return pairs.every(([wanted, own]) => !wanted || wanted === own) && !wish.alternative && !wish.prefix
      && !Object.keys(wish.options || {}).length;
  }

  // Translates a text and traces it; requests for an older text are aborted.
  async function open(text, changes = {}) {
    if (!engine) return;
    running.abort();
    const mine = running = new AbortController(), { signal } = mine, before = state.reply?.translation?.text || "";
    opening = true;
    clearTimeout(slow);
    slow = setTimeout(() => { if (running === mine && state.busy) { state.waited = true; render(); } }, SLOW);
    set({ alternative: 0, prefix: null, forced: null, error: null, changed: [], waited: false, moment: null, held: null,
      playing: false, hover: null, text, busy: "translating", ...changes });
    if (!text.trim()) return set({ busy: null, reply: null, traces: [] });
    try {
      const body = asked(text), first = await ask("translate", { ...body, texts: [text] }, signal);
      const [translation] = first.translations;
      if (!translation.hypotheses.length) return set({ busy: null, reply: { translation }, traces: [] });
      const shown = { ...translation, text: translation.hypotheses[state.alternative]?.text || translation.text };
      set({ busy: "looking", reply: { translation: shown } });
      const answer = await ask("look", { ...body, text, alternative: state.alternative, maps: KINDS }, signal);
      arrived(answer, { before, changes });
      opening = false;
      await weigh(signal);
    } catch (error) {
      if (error.name !== "AbortError" && running === mine) failed(error.message);
    }
  }
  const isAlike = (one, other) => one.record.model === other.record.model && `${one.languages}` === `${other.languages}`;
  const again = () => open(state.text, { alternative: state.alternative, prefix: state.prefix, forced: state.forced });
  const cancel = () => {
    running.abort();
    running = new AbortController();
    if (opening) failed("Cancelled."); else set({ busy: null, waited: false });
  };
  // Keeps the new translation, if only its maps are missing, and nothing of an older text.
  function failed(error) {
    opening = false;
    set({ busy: null, waited: false, error, traces: [], reply: state.busy === "looking" ? state.reply : null });
  }

  function arrived(answer, { before = "", changes = {} } = {}) {
    const traces = answer.traces.map((one) => new Trace(one, answer.measured));
    const part = Math.min(changes.part || 0, traces.length - 1), trace = traces[part];
    const [layers, heads] = trace.sizes[state.head.kind], text = traces.map((one) => one.target).join(" ");
    const keeps = changes.word !== undefined && changes.word < trace.record.target.length;
    const next = {
      reply: { ...state.reply, ...answer, translation: answer.translation || state.reply?.translation },
      traces, part, busy: "weighing", waited: false, touched: false, shown: null,
      word: keeps ? changes.word : trace.first, read: 0,
      moment: null, held: null, playing: false, twin: state.twin && isAlike(state.twin, trace) ? state.twin : null,
      changed: before && before !== text && traces.length === 1 ? changed(before, text).map((one) => one.start) : [],
    };
    if (state.head.layer >= layers || state.head.head >= heads) {
      next.head = { kind: "cross", layer: trace.sizes.cross[0] - 1, head: 0 };
    }
    const isFree = !state.pinned && hasHeads(changes.view ?? "raw"), likely = isFree && trace.likely(next.word);
    if (likely) next.head = likely;
    if (!hasHeads(state.view) || !trace.holds(state.view)) next.view = "raw";
    set(next);
    if (changes.view && changes.view !== "raw") choose({ view: changes.view });
  }

  // The evidence for each word: takes longer than the maps, and follows them.
  async function weigh(signal, how = {}) {
    const trace = traceOf(state);
    if (!trace || trace.effectsKnown || !engine || (trace.evidence && !how.head_seconds)) return set({ busy: null });
    const flip = flipOf(settings, trace.source);
    const more = { evidence: true, others: flip ? [flip.text] : [], maps: [], ...how };
    const quiet = (error) => {
      if (error.name === "AbortError") throw error;
      return null;  // the page works without it
    };
    const answer = await ask("look", { ...about(trace), ...more }, signal).catch(quiet);
    if (answer) trace.add(answer.traces[0]);
    if (flip) prepare(flip.text, signal);
    const focus = focusOf(trace), isOther = focus.head && !same(focus.head, state.head);
    set({ busy: null, waited: false, shown: isOther ? focus.head : null, ...focus });
  }

  // Of a large model heads are switched off only when the reader asks for it.
  function weighAll() {
    set({ busy: "weighing" });
    weigh(running.signal, { head_seconds: LONG }).catch(() => {});
  }

  // The source word of the chosen word; and the head that matters most for it, unless the reader has picked one, or
  // has pointed at what is shown.
  function focusOf(trace) {
    const read = trace.counterpart(state.word)?.pieces[0] ?? 0, best = trace.best(state.word);
    const free = best && !state.pinned && !state.touched && hasHeads(state.view);
    return free ? { read, head: { kind: best.kind, layer: best.layer, head: best.head } } : { read };
  }

  // Traces the other sentence of a pair in advance: the line below the texts says what *it* means there.
  async function prepare(text, signal) {
    const body = asked(text), look = { ...body, text, alternative: 0, maps: KINDS };
    const both = Promise.all([ask("translate", { ...body, texts: [text] }, signal), ask("look", look, signal)]);
    const [first, answer] = await both.catch(() => []);
    if (!first || flipOf(settings, text)?.text !== state.text || answer.traces.length !== 1) return;
    set({ twin: new Trace(answer.traces[0], answer.measured) });
  }

  // --- more of a text that is shown

  function showPart(part) {
    running.abort();
    running = new AbortController();
    set({ part, word: state.traces[part].first, read: 0, hover: null, touched: false, busy: "weighing" });
    weigh(running.signal).catch(() => {});
  }

  // Changes what is shown of the trace; a view that was not computed yet is asked for.
  async function choose(changes) {
    const trace = traceOf(state), { view } = changes;
    if (view === "left_out" || (view && !hasHeads(view) && state.head.kind === "encoder")) {
      changes = { ...changes, head: { kind: "cross", layer: 0, head: 0 } };
    }
    if ((view ?? state.view) === "left_out" || isAttribution(view ?? state.view)) {
      changes = { ...changes, rows: "predicts" };  // of what is written; no step that reads has a part in it
    }
    if (view && !trace.holds(view)) {
      set({ waited: true, busy: "looking", menu: null });
      try {
        const answer = await ask("look", { ...about(trace), views: ["raw", view], maps: KINDS });
        trace.add(answer.traces[0]);
      } catch (error) {
        if (error.name !== "AbortError") set({ busy: null, waited: false, error: error.message });
        return;
      }
    }
    set({ busy: null, waited: false, error: null, hover: null, ...changes });
  }

  return { ask, about, arrived, asTranslated, begin, open, again, cancel, choose, showPart, weighAll };
}
