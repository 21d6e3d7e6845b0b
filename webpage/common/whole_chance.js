// The chance that a reference reads exactly like the best of some translations.

const CLAUSES = { en: /^(?:and|but|or|so|because|until|while|when|if|that|which|who|although|though|since|before|after)$/i };
const isWord = ({ text }) => /[\p{L}\p{N}]/u.test(text);

// `hypotheses` as `/v1/translate` has them, and the trace of the first.  With those of the others, which are less likely by
// their `odds`, it is at most 1.  Null where it is not known, or where a clause of the source has no link to a word of the
// translation: what is left out there is no error that such a chance counts.
export function wholeChance([best, ...others], trace) {
  if (typeof best?.probability !== "number" || best.text !== trace.target || !trace.evidence) return null;
  if (clausesOf(trace).some((clause) => !clause.some((word) => isLinked(trace, word)))) return null;
  return best.probability / Math.max(1, best.probability * others.reduce((sum, one) => sum + one.odds, 1));
}

// The words of the source by clause, without the words that begin one.
function clausesOf(trace) {
  const found = [[]], begins = CLAUSES[trace.languages[0]];
  for (const word of trace.words("source")) {
    if (!isWord(word) || begins?.test(word.text)) found.push([]); else found.at(-1).push(word);
  }
  return found.filter((clause) => clause.length);
}

function isLinked(trace, { word }) {
  const { evidence: { links }, record: { words: { target } } } = trace;
  return links.some(([source, to]) => source === word && isWord(target.find((one) => one.word === to)));
}
