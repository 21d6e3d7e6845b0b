// The third engine: the model itself, in the reader's browser.  It answers the page's questions as the server does, one
// sentence at a time.  Placeholders (`{name}`, addresses, numbers that come back changed), HTML and the detection of
// languages are the server's; samples are others than the server's; the lessons are not here.
//
//     const engine = inThisThread({ model, manifest, weights, replay })
//     const answer = await engine("look", { text: "The cat is tired.", maps: ["cross"] }, pause)
//
// `model` is the JSON of `webpage_data/page_model.py`; `manifest` and `weights`, an ArrayBuffer, are those of
// `webpage_data/page_weights.py`; `replay` is an ArrayBuffer of replay.json.gz, or null.  `pause()` is awaited between the
// passes of the network; it throws to end a question that nobody waits for.

import { antecedentOf } from "./antecedent.js";
import { evidenceOf } from "./evidence.js";
import { Forced } from "./forced_pass.js";
import { arithmetic, layers, near, patch, positions, replay, tree, words } from "./lab_answers.js";
import { machineOf } from "./machine_answer.js";
import { Network, headsOff } from "../model/network.js";
import { labels, recordOf } from "./trace_record.js";
import { OPTIONS, translated } from "./translations.js";
import { inCaseOf, unknownWords } from "./model_input.js";
import { SentenceEnds } from "./sentence_ends.js";
import { SentencePiece } from "../model/sentencepiece.js";
import { Tokenizer } from "../model/tokenizer.js";
import { Weights } from "../model/weights.js";

const HEAD_SECONDS = 10;  // that switching off every head may take, of a large model, until the reader asks for it
const NOTHING = { roles: [], apart: null };  // measured of a model without some heads
const GIVEN = { score: null, engine_log_prob: null, engine: "", precision: "" };  // of a translation by someone else

export function inThisThread(data) {
  const model = new Model(data);
  return async (route, body, pause = async () => {}) => {
    if (!ROUTES[route]) throw new Error("The model in this page cannot answer this request. It needs a server.");
    return ROUTES[route](model, body, pause);
  };
}

const ROUTES = {
  async translate(model, body, pause) {
    const found = [];
    for (const text of body.texts) found.push((await model.translate(text, body, pause)).translation);
    return { translations: found };
  },

  async look(model, body, pause) {
    const { without = [], alternative = 0 } = body, isWhole = !without.length;
    const result = body.translation != null ? { parts: [model.given(body)] }
      : await (isWhole ? model.translate(body.text, body, pause) : withoutHeads(model, body, pause));
    const { translation = null, whole = null, hooks, parts } = result;
    if (translation && !translation.hypotheses.length)
      throw new Error("the text has no words, so there is no translation to look at");
    if (translation && !translation.hypotheses[alternative])
      throw new Error(`there is no alternative ${alternative}: the result has ${translation.hypotheses.length}`);
    const traces = [];
    for (const part of parts) traces.push(await traceOf(model, part, { ...body, alternative, hooks }, pause));
    return { translation, with_every_head: whole, traces, measured: isWhole ? model.measured : NOTHING };
  },

  async inside(model, { question }, pause) {
    const { tool, source, target } = question, pair = model.pair(source, target);
    const forced = () => model.forced(pair, model.given(question));
    const tools = {
      arithmetic: () => arithmetic(forced(), question), layers: () => layers(forced()),
      patch: () => patch(forced(), question, pause), tree: () => tree(model, pair, question),
      words: () => words(model, pair, question, pause), near: () => near(model, question),
      positions: () => positions(forced(), question),
      replay: async () => replay(await model.moments(), question),
      machine: () => machineOf(forced(), question.step, pause, question.head_seconds ?? HEAD_SECONDS),
    };
    return tools[tool]();
  },
};

// A translation with some heads switched off, and with every head.
async function withoutHeads(model, body, pause) {
  const whole = await model.translate(body.text, body, pause), [part] = whole.parts;
  if (!part) throw new Error("the text has no words, so no head is needed for its translation");
  const pair = model.pair(body.source, body.target);
  const { heads } = model.means(pair, () => model.forced(pair, { ...part, ...part.hypotheses[0] }));
  const names = body.without.map(([kind, layer, head]) => `${kind}.${layer}.${head}`);
  const hooks = headsOff(Object.fromEntries(names.map((name) => [name, heads[name]])));
  return { ...await model.translate(body.text, body, pause, hooks), whole: whole.translation, hooks };
}

// One trace: of a part of a text, its hypothesis of this number, or the translation given.
async function traceOf(model, part, request, pause) {
  const { source, target, alternative, maps = [], views = ["raw"], evidence, others = [], hooks } = request;
  const { head_seconds: seconds = HEAD_SECONDS } = request;
  const one = part.hypotheses ? part.hypotheses[alternative] ?? part.hypotheses.at(-1) : part;
  const forced = model.forced(model.pair(source, target), { read: part.read, ...one }, hooks);
  const search = part.hypotheses ? { score: one.score, engine_log_prob: one.log_prob, engine: "browser",
    precision: model.precision } : GIVEN;
  const record = await recordOf(forced, { kinds: maps, views, pause, search });
  const [from] = forced.languages, isKnown = unknownWords(model.seen(from), part.read, from)?.length === 0;
  Object.assign(record, { antecedent: isKnown && forced.isWhole ? antecedentOf(forced) : null }, asSent(part, record));
  if (evidence) record.evidence = await evidenceOf(forced, { others, seconds }, pause);
  return record;
}

// The text as it was sent and its translation, where the model has read other marks, or capitals in lower case.
function asSent({ text, read }, { source_text: source, target_text: target, words, ...tokens }) {
  if (text === read) return {};
  const own = { source: [...text], target: [...inCaseOf(text, read)(target)] };
  const within = (whole) => ({ start, end }) => [...whole].slice(start, end).join("");
  const bySide = (make) => Object.fromEntries(Object.keys(words).map((side) =>
    [side, make(side, within(side === "source" ? own.source : own.target), within(side === "source" ? source : target))]));
  return { texts: { source: text, target: own.target.join("") },
    words: bySide((side, inOwn) => words[side].map((one) => one.word === null ? one : { ...one, text: inOwn(one) })),
    labels: bySide((side, inOwn, inRead) => labels(tokens[side].map((token) =>
      token.text === inRead(token) ? { ...token, text: inOwn(token) } : token))) };
}

class Model {
  constructor({ model, manifest, weights, replay: packed }) {
    Object.assign(this, model, { packed, precision: manifest.tensors[0].dtype });
    this.lastTranslation = this.lastPass = { key: "" };
    this.network = new Network(model.architecture, model.generation_config, new Weights(manifest, weights));
    this.tokenizer = model.tokenizer.kind ? new SentencePiece(model.tokenizer) : new Tokenizer(model.tokenizer);
    this.frames = model.tokenizer.pairs ?? {};  // ids around a source of each pair
    this.seenWords = Object.fromEntries(Object.entries(model.seen_words).map(([language, all]) => {
      const text = all.join("");
      return [language, { words: new Set(all), letters: new Set(`${text}${text.toUpperCase()} .,!?;:'-`) }];
    }));
    this.ends = Object.fromEntries(Object.entries(model.sentence_rules).map(([language, rules]) =>
      [language, new SentenceEnds(rules)]));
  }

  calibrator(language) { return this.calibration[language]?.steps ?? null; }
  sentenceCalibrator(language) { return this.calibration[language]?.sentences ?? null; }
  seen(language) { return this.seenWords[language] ?? null; }
  sentenceEnds(language) { return this.ends[language]; }

  // What heads give when they are off, and feed-forward blocks of the decoder: their means over the example sentences
  // or, without these, over this translation.
  means(pair, forced) {
    const name = pair.join("-"), found = this.head_means[name];
    if (found) return { ...found, feed_forward: this.feed_forward_means[name] };
    const own = forced();
    return { averaged_over: 0, heads: own.meanOutputs(), feed_forward: own.meanFeedForward() };
  }
  // With the tags of these languages around a source.
  tokenizerOf(pair) {
    const frame = this.frames[pair.join("-")];
    return frame ? this.tokenizer.framed(frame) : this.tokenizer;
  }

  // What every translation to this language begins with: its tag, if the model has one.
  tag(language) {
    const tag = this.tokenizer.tags[language] ?? this.network.generation.forced_bos_token_id;
    return tag === undefined || tag === null ? [] : [tag];
  }

  // The languages asked for, or the first pair that fits.
  pair(source, target) {
    const fits = (wanted, own) => !wanted || wanted === "auto" || wanted === own;
    const pair = this.language_pairs.find(([from, to]) => fits(source, from) && fits(target, to));
    const all = this.language_pairs.map((one) => one.join(" to ")).join(", ");
    const wanted = [source && `from ${source}`, target && `to ${target}`].filter(Boolean).join(" ");
    if (!pair) throw new Error(`this model does not translate ${wanted}; choose ${all}`);
    return pair;
  }

  // As `translated`; the last one is kept, because the page looks into what it has translated.
  async translate(text, body, pause, hooks = {}) {
    const pair = this.pair(body.source, body.target), { prefix } = body;
    const options = Object.fromEntries(OPTIONS.filter((name) => body[name] != null).map((name) => [name, body[name]]));
    const key = JSON.stringify([pair, text, prefix, options]), isWhole = !hooks.mixed;
    if (isWhole && this.lastTranslation.key === key) return this.lastTranslation.found;
    const found = await translated(this, pair, text, { prefix, options, hooks, pause });
    if (isWhole) this.lastTranslation = { key, found };
    return found;
  }

  // The translation that a question is about: { text, read, token_ids, given }.
  given({ text, translation, target_ids: ids, given = 0, source, target }) {
    const { tokenizer } = this, [, to] = this.pair(source, target), own = text.normalize("NFC");
    if (!text.trim() || !translation.trim()) throw new Error(`the ${text.trim() ? "translation" : "source"} is blank`);
    if (ids && tokenizer.decode(ids).normalize("NFC") !== translation.normalize("NFC"))
      throw new Error("target_ids do not spell the translation: take both from the same trace");
    const tag = this.tag(to), written = [...tag, ...tokenizer.encodeTarget(translation.normalize("NFC"))];
    return { text: own, read: own, token_ids: ids ?? written, given: ids ? given : tag.length };
  }

  // The last one is kept, with the passes that it keeps: the page asks for one token of a translation after another.
  forced(pair, { read, token_ids: ids, given }, hooks = {}) {
    const make = () => new Forced(this, pair, read, ids, given, hooks), key = JSON.stringify([pair, read, ids, given]);
    if (hooks.mixed) return make();
    if (this.lastPass.key !== key) this.lastPass = { key, forced: make() };
    return this.lastPass.forced;
  }

  // The moments of the replay, unpacked when they are first asked for.
  moments() {
    const plain = () => new Blob([this.packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const unpack = async () => this.packed ? (await new Response(plain()).json()).moments : null;
    return this.unpacked ??= unpack().catch(() => { throw new Error("The recording of the training is damaged."); });
  }
}
