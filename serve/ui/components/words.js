// A text as words that can light up: Python counts in code points, so texts are cut as arrays of these.

function wordsOf(text, spans) {
  // The text in runs [{ text, word }]; word is the span's number, null between words.
  const points = Array.from(text), runs = [];
  let at = 0;
  spans.forEach(([start, end], word) => {
    if (start > at) runs.push({ text: points.slice(at, start).join(""), word: null });
    runs.push({ text: points.slice(start, end).join(""), word });
    at = end;
  });
  if (at < points.length) runs.push({ text: points.slice(at).join(""), word: null });
  return runs;
}

function placed(whole, parts, name) {
  // Each part's text in the whole one: its words' spans, counted there; null where it is not to be found.
  const points = (text) => Array.from(text).length;
  let from = 0;
  return parts.map((part) => {
    const at = whole.indexOf(part[name + "_text"], from);
    if (at < 0) return null;
    from = at + part[name + "_text"].length;
    const start = points(whole.slice(0, at));
    return part[name].map(([a, b]) => [a + start, b + start]);
  });
}
