// What the page asks the server, and what becomes of the answers: a translation, its traces, the evidence, a view.

import { flipOf } from "../common/flips.js";
import { changed } from "../common/markup.js";
import { traceOf } from "../common/state.js";
import { KINDS, Trace, hasHeads, isAttribution } from "../common/trace.js";

const SLOW = 400;    // milliseconds after which the page says that it is waiting
const KEPT = 40;     // answers kept
const LONG = 3600;   // seconds that the reader may wait for what was asked for

export function loading(context) {
  const { state, settings, engine, set, render } = context;
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
    const { source, target, prefix, options } = state, { pair } = flipOf(settings, text) ?? {};
    const { languages: [from, to] = [], model } = pair ?? {};
    const example = [null, from].includes(source) && [null, to].includes(target) && model;
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
    Object.assign(state, rest);
    if (first && isWished(first, wish)) {
      const { source_text, source_language, target_language } = first.traces[0];
      Object.assign(state, { text: source_text, source: source_language || null, target: target_language || null });
      arrived(first, { changes: wish });
      const trace = traceOf(state), flip = flipOf(settings, state.text);
      if (engine && !trace.evidence) return weigh(running.signal).catch(() => {});
      set({ busy: null, ...focusOf(trace) });
      if (engine && flip) prepare(flip.text, running.signal, wish.swapped);
    } else {
      const own = text || settings.text || first?.traces[0].source_text;
      if (own) open(own, rest); else set({});
    }
  }

  // Whether the answer shipped with the page is the one wished for.
  function isWished({ traces: [{ source_text, source_language, target_language, model }] }, wish) {
    const pairs = [[wish.text, source_text], [wish.source, source_language], [wish.target, target_language],
      [wish.model, model]];
    return pairs.every(([wanted, own]) => !wanted || wanted === own) && !wish.alternative && !wish.prefix
      && !Object.keys(wish.options || {}).length;
  }

  // Translates a text and traces it; requests for an older text are aborted.  `late` changes with the answer.
  async function open(text, changes = {}, late = {}) {
    if (!engine) return;
    running.abort();
    const mine = running = new AbortController(), { signal } = mine;
    opening = true;
    clearTimeout(slow);
    slow = setTimeout(() => { if (running === mine && state.busy) { state.waited = true; render(); } }, SLOW);
    set({ alternative: 0, prefix: null, forced: null, error: null, changed: {}, waited: false, moment: null, held: null,
      playing: false, hover: null, draft: null, text, busy: "translating", ...changes });
    if (!text.trim()) return set({ busy: null, reply: null, traces: [], chosen: false });
    try {
      const body = asked(text), first = await ask("translate", { ...body, texts: [text] }, signal);
      const [translation] = first.translations;
      if (!translation.hypotheses.length) return set({ busy: null, reply: { translation }, traces: [] });
      const shown = { ...translation, text: translation.hypotheses[state.alternative]?.text || translation.text };
      set({ busy: "looking", reply: { translation: shown } });
      const answer = await ask("look", { ...body, text, alternative: state.alternative, maps: KINDS }, signal);
      arrived(answer, { changes, late });
      opening = false;
      await weigh(signal, {}, changes.swapped);
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

  // The word stays in its place after a swap (`late.stay`), else it is the first to look at.  The head stays; for an
  // example that the reader has just opened, the page chooses one.
  function arrived(answer, { changes = {}, late: { stay, ...late } = {} } = {}) {
    const before = traceOf(state), many = state.traces.length > 1;
    const traces = answer.traces.map((one) => new Trace(one, answer.measured));
    const part = Math.min(changes.part || 0, traces.length - 1), trace = traces[part];
    const [layers, heads] = trace.sizes[state.head.kind], isKept = changes.word < trace.record.target.length;
    const place = before?.written.length === trace.written.length ? trace.written[stay]?.pieces[0] : undefined;
    const flip = flipOf(settings, trace.source), agrees = ({ text }) => text === flip?.agrees;
    const own = trace.words("target").find(agrees)?.pieces[0];
    const differs = (side) => changed(before[side], trace[side]).map((one) => one.start);
    const next = {
      twin: null, swapped: false, mode: changes.mode ?? "after", ...late, hover: null,
      reply: { ...state.reply, ...answer, translation: answer.translation || state.reply?.translation },
      traces, part, busy: "weighing", waited: false,
      word: isKept ? changes.word : place ?? own ?? trace.first, read: state.read < trace.record.source.length ? state.read : 0,
      moment: null, held: null, playing: false,
      changed: !before || many || traces.length > 1 || before.target === trace.target ? {}
        : { source: late.swapped ? differs("source") : [], target: differs("target") },
    };
    if (next.twin && !isAlike(next.twin, trace)) Object.assign(next, { twin: null, swapped: false });
    const isMissing = state.head.layer >= layers || state.head.head >= heads, likely = trace.likely(next.word);
    const isExample = Boolean(flip), mayChoose = !state.chosen && !next.swapped;
    next.isFree = mayChoose && !(isExample && likely);
    if (isMissing || (mayChoose && (isExample || !before))) {
      next.head = likely ?? { kind: "cross", layer: trace.sizes.cross[0] - 1, head: 0 };
    }
    if (!hasHeads(state.view) || !trace.holds(state.view)) next.view = "raw";
    set(next, { slide: true });
    if (changes.view && changes.view !== "raw") choose({ view: changes.view });
    else if (state.page === "lab") context.actions?.entered();  // what the tool needs of this text
  }

  // The evidence for each word: takes longer than the maps, and follows them.
  async function weigh(signal, how = {}, swapped = false) {
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
    if (flip) prepare(flip.text, signal, swapped);
    set({ busy: null, waited: false, ...focusOf(trace) });
  }

  // Of a large model heads are switched off only when the reader asks for it.
  function weighAll() {
    set({ busy: "weighing" });
    weigh(running.signal, { head_seconds: LONG }).catch(() => {});
  }

  // The source word of the chosen word; and for an own text, once, the head that matters most for it.
  function focusOf(trace) {
    const read = trace.counterpart(state.word)?.pieces[0] ?? state.read, best = trace.best(state.word);
    if (!best || !state.isFree || !hasHeads(state.view)) return { read };
    const { kind, layer, head } = best;
    return { read, isFree: false, chosen: !flipOf(settings, trace.source), head: { kind, layer, head } };
  }

  // Translates and traces the other sentence of a pair in advance, so that a swap shows it at once; with `swapped` it is
  // the one before the swap, as a link says, and is tested too.
  async function prepare(text, signal, swapped = false) {
    if (state.swapped) return;
    const body = asked(text), look = { ...body, text, alternative: 0, maps: KINDS };
    const both = Promise.all([ask("translate", { ...body, texts: [text] }, signal), ask("look", look, signal)]);
    const [first, answer] = await both.catch(() => []);
    if (!swapped || !first || flipOf(settings, text)?.text !== state.text || answer.traces.length !== 1) return;
    const twin = new Trace(answer.traces[0], answer.measured);
    if (!isAlike(twin, traceOf(state))) return;
    set({ twin, swapped: true });
    const tested = await ask("look", { ...about(twin), evidence: true, others: [state.text], maps: [] }, signal).catch(() => null);
    if (tested) { twin.add(tested.traces[0]); render(); }
  }

  // --- more of a text that is shown

  function showPart(part) {
    running.abort();
    running = new AbortController();
    set({ part, word: state.traces[part].first, read: 0, hover: null, busy: "weighing" });
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
