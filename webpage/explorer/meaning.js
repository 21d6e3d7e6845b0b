// What the model treats the pronoun as, in one line, where switching a head off shows it.

import { flipOf } from "../common/flips.js";
import { inLanguage } from "../common/languages.js";
import { html } from "../common/markup.js";
import { quoted } from "../common/wording.js";

const GENDERS = { il: "masculine", ils: "masculine", elle: "feminine", elles: "feminine" };

export function meaning(trace, settings, twin) {
  const [from, to] = trace.languages, flip = flipOf(settings, trace.source), own = treated(trace);
  if (!own) return "";
  const other = twin && flip && twin.source === flip.text ? treated(twin) : null;
  const said = ({ pronoun, noun, written }, is, becomes) => html`${quoted(pronoun, from)} ${is} the ${
    quoted(noun, from)} and ${becomes} <b ${inLanguage(to)}>${written}</b> (${GENDERS[written]}).`;
  return html`<span data-says="antecedent">The model treats ${said(own, "as", "writes")}</span>${
    other && other.written !== own.written
    ? html` <span data-says="twin-antecedent">With <b>${flip.other}</b>, ${said(other, "is", "becomes")}</span>` : ""}`;
}

// The source pronoun, the noun, and the pronoun written, as the server found them.
function treated(trace) {
  const { antecedent } = trace.record, [source, target] = [trace.words("source"), trace.words("target")];
  return antecedent && { pronoun: source[antecedent.pronoun].text.toLowerCase(), noun: source[antecedent.noun].text,
    written: target[antecedent.written].text.toLowerCase() };
}
