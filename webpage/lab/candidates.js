// What else could have been written in the place of a word, and its chances at a temperature.

import { inLanguage } from "../common/languages.js";
import { html, slide, tipped } from "../common/markup.js";
import { bare } from "../common/trace.js";
import { chance, elided, oneIn } from "../common/wording.js";

export function chanceTip(trace) {
  const smoothing = trace.record.calibrated ? html`It is calibrated on tokens: of those with a chance of 80%, about 80%
    agree with a reference.` : "This model has not been calibrated.";
  return html`This is the model’s chance of writing each word at this point: the product over the tokens of the word. ${
    smoothing} Temperature acts on the first token.`;
}

// [{ text, p, chosen, whole }], likeliest first after the chosen one.  What is not `whole` is the beginning of a word: it
// may go on in several ways, or its end was not asked for.
export function choices(trace, unit, temperature, raw) {
  const { record } = trace, step = unit.pieces[0], isOwn = raw || temperature !== 1;
  const shown = isOwn ? record : trace.shown, isRaw = isOwn || !record.calibrated;
  const at = record.temperatures?.indexOf(temperature) ?? -1;
  const logOf = (i) => isRaw ? record.top[step][i].log_prob : record.calibrated.top[step][i], best = logOf(0);
  const warm = (log) => temperature === 1 || at < 0 ? Math.exp(log)
    : Math.exp((log - best) / temperature - record.log_sums[step][at]);
  const ends = trace.evidence?.ends?.[unit.word] ?? 1;
  const own = { text: unit.label, chosen: true, whole: ends > 0.98,
    p: trace.chance(unit, shown) / Math.exp(shown.log_probs[step]) * warm(shown.log_probs[step]) };
  const spelt = !isOwn && unit.word !== null && trace.evidence?.candidates[unit.word];
  const bySpelling = (one) => ({ text: bare(one.text), whole: one.whole,
    p: one.probability / one.first * warm(Math.log(Math.max(one.first, 1e-12))) });
  const others = spelt ? spelt.map(bySpelling)
    : record.top[step].map((one, i) => ({ text: bare(one.text), id: one.id, whole: false, p: warm(logOf(i)) }))
      .filter((one) => one.id !== record.target_ids[step]);
  const found = [own];
  for (const one of others) {
    if (one.text && !/^<.*>$/.test(one.text)) found.push(one);
  }
  return [own, ...found.slice(1).sort((a, b) => b.p - a.p)];
}

export function candidates(state, trace, unit, settings) {
  const shown = choices(trace, unit, state.temperature, state.raw).slice(0, 4);
  const rest = Math.max(0, 1 - shown.reduce((sum, one) => sum + one.p, 0));
  const [, code] = trace.languages, can = settings.engine && unit.word !== null && state.moment === null;
  const width = (p) => Math.max(0.8, Math.min(100, 100 * p)).toFixed(1);
  const bar = (p) => html`<span class="bar2"><i style="width:${width(p)}%"></i></span><small>${chance(p)}</small>`;
  const isSame = (one) => !one.chosen && one.whole && one.text === unit.label;
  const name = (one) => html`${elided(one.text, 12)}${one.whole ? "" : "…"}${
    isSame(one) ? html` <small>split differently</small>` : ""}`;
  const row = (one) => html`<span ${inLanguage(code)}>${name(one)}</span> ${bar(one.p)}`;
  const button = (one) => html`<button data-says="candidate" data-force="${one.text}" data-k="force-${one.text}" ${tipped(
    html`Write “${one.text}” here and translate the rest again${oneIn(one.p)}`)}>${row(one)}</button>`;
  return html`${can ? html`<p class="fine hint">Select a word to write it instead.</p>` : ""}<div class="cand">${
    shown.map((one) => one.chosen || isSame(one) || !can ? html`<div class="${one.chosen ? "chosen" : "plain"}"
      data-says="candidate">${row(one)}</div>`
      : button(one))}<div class="rest" data-says="rest"><span>others</span> ${bar(rest)}</div></div>
    ${trace.record.calibrated && (state.raw || state.temperature !== 1) && html`<p class="fine">Not calibrated: the
      model’s own chances, from which sampling draws.</p>`}${
    slider(trace.record.temperatures || [], state.temperature)}`;
}

const slider = (scale, temperature) => scale.length > 0 && slide("Temperature", scale.length - 1,
  scale.indexOf(temperature), html`data-do="temperature" data-k="temperature"`,
  temperature < 1 ? temperature.toFixed(2).replace(/0$/, "") : temperature.toFixed(1));
