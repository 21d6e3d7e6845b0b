// `translationBox(root, gradio)`: the two texts.  What it asks for and what comes back is numbered, so that an answer
// to an older question changes nothing.

function translationBox(root, gradio) {
  const PAUSE = 450;  // ms without a key, after which what is typed is translated
  let about = null, asked = 0, sent = null, result = null, shown = 0, links = null, held = [], timer = 0, wish = null, taken = 0, flipped = -1;
  let answered = "";  // the text that the result is of

  // --- what is on the screen
  const select = (label, onchange) => make("select", { "aria-label": label, onchange });
  const icon = (text, label, onclick) => make("button", { type: "button", class: "tr-icon", "aria-label": label, title: label, onclick }, text);
  const from = select("From", () => { listTargets(); askAfresh(); }), to = select("To", () => askAfresh());
  const models = select("Model", () => { listSources(); askAfresh(); });
  const text = make("textarea", { class: "tr-text", dir: "auto", rows: 1, spellcheck: "false", "aria-label": "Text to translate",
    placeholder: "Type a sentence", autocomplete: "off" });
  const mirror = make("div", { class: "tr-text tr-mirror", dir: "auto", "aria-hidden": "true" });
  const out = make("div", { class: "tr-text tr-out", dir: "auto", role: "group", "aria-label": "Translation" });
  const swap = icon("⇄", "Swap the languages", exchange), clear = icon("×", "Clear the text", () => { text.value = ""; typed(); text.focus(); });
  const copy = icon("Copy", "Copy the translation", copyText), link = icon("Link", "Copy a link to this translation", copyLink);
  const count = make("span", { class: "tr-count" }), status = make("span", { class: "tr-status", role: "status" });
  const told = make("p", { class: "tr-told", role: "alert" }), cut = make("p", { class: "tr-note tr-cut" }), unknown = make("p", { class: "tr-unknown" });
  const heldTo = make("p", { class: "tr-held" }), caption = make("p", { class: "tr-caption" });
  const reading = make("p", { class: "tr-reading", "aria-live": "polite" });
  const othersAre = make("p", { class: "tr-note" });
  const others = make("ol", { class: "tr-others", "aria-label": "Alternatives" });
  const go = make("button", { type: "button", id: "translate", class: "tr-go", onclick: () => ask() }, "Translate");
  const halt = make("button", { type: "button", class: "tr-quiet", onclick: stop }, "Stop");
  const live = make("input", { type: "checkbox", checked: true });
  const search = searchSettings({ changed: () => { forgetChange(); ask(); } });
  const words = oneWord({ choose: flip });
  const pop = make("div", { class: "tr-pop", role: "dialog", tabindex: -1, "aria-label": "Other choices of the model at this word", hidden: true });
  root.append(
    make("div", { class: "tr-sides" },
      make("section", { class: "tr-side", "aria-label": "Source" },
        make("div", { class: "tr-head" }, from, models, make("span", { class: "tr-space" }), clear),
        make("div", { class: "tr-edit" }, mirror, text),
        make("div", { class: "tr-foot" }, count)),
      make("div", { class: "tr-between" }, swap),
      make("section", { class: "tr-side", "aria-label": "Target" },
        make("div", { class: "tr-head" }, to, make("span", { class: "tr-space" }), link, copy),
        out, make("div", { class: "tr-foot" }, status, halt), pop)),
    reading,
    make("div", { class: "tr-actions" }, go, make("label", { class: "tr-live" }, live, "while I type"),
      make("details", { class: "tr-how" }, make("summary", {}, "How it searches"), search.node)),
    told, unknown, cut, heldTo, othersAre, others, caption, words.node);

  // --- what there is to choose from
  const model = () => about.models[Math.max(models.selectedIndex, 0)] || { pairs: [] };
  const named = (code) => about.names[code] || code;
  const option = (value, label) => make("option", { value }, label);
  function fill(list, options) {
    const before = list.value;
    list.replaceChildren(...options);
    if (options.some((one) => one.value === before)) list.value = before;
    list.hidden = !options.length;
  }
  function listSources() {
    const codes = [...new Set(model().pairs.map(([source]) => source))];
    fill(from, [...(codes.length > 1 ? [option("auto", "Detect language")] : []), ...codes.map((code) => option(code, named(code)))]);
    if (about.models.length) search.offer({ most: about.beams, usual: model().usual, alternatives: about.alternatives });
    listTargets();
  }
  function listTargets() {
    const pairs = model().pairs.filter(([source]) => from.value === "auto" || source === from.value);
    fill(to, [...new Set(pairs.map(([, target]) => target))].map((code) => option(code, named(code))));
    swap.disabled = !model().pairs.some(([source, target]) => source === to.value && (target === from.value || from.value === "auto"));
    swap.style.visibility = swap.disabled ? "hidden" : "visible";  // most models go one way
  }
  function offer() {
    about = gradio.props.about;
    fill(models, about.models.length > 1 ? about.models.map((one) => option(one.name, one.name)) : []);
    listSources();
    go.disabled = text.disabled = !about.ready;
    text.placeholder = about.ready ? "Type a sentence" : "The model is still learning";
    if (about.asked && (about.asked.n > 0 || !wish)) wish = about.asked;  // what was watched gives way to what a link asks for
    if (wish && wish.n !== taken && about.ready) {
      taken = wish.n;
      text.value = wish.text;
      for (const [list, name, refill] of [[models, wish.model, listSources], [from, wish.source, listTargets], [to, wish.target, () => {}]]) {
        if (Array.from(list.options).some((one) => one.value === name)) { list.value = name; refill(); }
      }
      if (wish.settings) search.set(Object.keys(wish.settings).length ? wish.settings : model().usual);
      askAfresh({ start: wish.start, first: wish.shown });
    }
    draw();
  }
  function exchange() {
    const [source, target] = [from.value === "auto" && result ? result.source_language : from.value, to.value];
    from.value = target;
    listTargets();
    to.value = source;
    listTargets();
    if (current() && !isEarlier()) text.value = current().text;
    askAfresh();
  }

  // --- asking
  const current = () => result && result.hypotheses[shown];
  const isEarlier = () => Boolean(result) && text.value.trim() !== answered;  // than what is in the box now
  const tooLong = () => Array.from(text.value).length > about.characters;
  const wrong = () => tooLong() ? `The text has ${counted(Array.from(text.value).length)} characters; at most ${counted(about.characters)} are taken.`
    : text.value.isWellFormed?.() ?? true ? "" : "The text has half of a character in it (a lone surrogate), which nothing can be made of: delete it, or paste the text anew.";
  function later(work) {
    clearTimeout(timer);
    timer = work ? setTimeout(work, PAUSE) : 0;
  }
  function forgetChange() {
    flipped = -1;
    words.forget();
  }
  function askAfresh(more = {}) {
    held = [];  // what the translation is to begin with, where that was chosen
    forgetChange();
    ask(more);
  }
  function ask({ start, first } = {}) {
    later(null);
    gradio.stop({ n: asked });
    asked += 1;
    told.textContent = "";
    closeOthers();
    if (!text.value.trim() || wrong() || !about.ready) { sent = null; draw(); return; }
    sent = text.value;
    gradio.ask({ n: asked, text: text.value, source: from.value || null, target: to.value || null,
      ...(models.hidden ? {} : { model: models.value }), ...search.chosen(),
      ...(held.length ? { prefix: held[0].text } : {}), ...(start ? { start } : {}),
      ...(first ? { shown: first } : {}) });
    draw();
  }
  function stop() {
    later(null);
    gradio.stop({ n: asked });
    asked += 1;
    sent = null;
    status.textContent = "Stopped";
    draw(true);
  }
  function typed() {
    held = [];
    told.textContent = "";
    forgetChange();
    closeOthers();
    later(live.checked ? ask : null);
    if (!text.value.trim()) {
      if (result) gradio.emptied();  // `links` stay: of the same translation they do not come twice
      result = null;
      ask();
    } else draw();
  }
  text.addEventListener("input", (event) => { if (!event.isComposing) typed(); });
  text.addEventListener("compositionend", typed);
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); }
  });

  function flip({ texts, which }) {
    from.value = "en";
    listTargets();
    text.value = texts[which];
    held = [];
    ask();
    flipped = asked;
    gradio.compare({ n: asked, texts, source: "en", target: to.value, ...(models.hidden ? {} : { model: models.value }), ...search.chosen() });
  }

  // --- answers
  gradio.watch("compared", () => {
    if (gradio.props.compared?.n === flipped) words.show(gradio.props.compared);
  });
  gradio.watch("about", offer);
  gradio.watch("value", () => {
    const answer = gradio.props.value;
    if (!answer || answer.n !== asked) return;
    answered = (sent ?? answered).trim();  // it may come twice
    sent = null;
    [result, shown] = [answer, answer.first];  // `links` may be right already
    draw();
  });
  gradio.watch("links", () => { links = gradio.props.links; drawWords(); });
  gradio.watch("told", () => {
    const { n, message } = gradio.props.told || {};
    if (n !== asked) return;
    sent = null;
    draw();
    told.textContent = message;
  });

  // --- drawing
  function draw(keep = false) {
    const size = Array.from(text.value).length;
    count.textContent = `${counted(size)} / ${counted(about.characters)}`;
    count.dataset.over = tooLong();
    if (wrong()) told.textContent = wrong();
    clear.style.visibility = text.value ? "visible" : "hidden";
    halt.style.visibility = sent === null ? "hidden" : "visible";
    root.dataset.busy = sent !== null;
    root.dataset.earlier = isEarlier();
    if (!keep) status.textContent = sent !== null ? "Translating…" : isEarlier() && !timer ? "Of an earlier text" : "";
    copy.disabled = !current();
    link.disabled = !current() || result.shown[shown].link === null;
    words.offer({ sentences: about.ready && model().pairs.some(([source, target]) => source === "en" && target === to.value) ? model().sentences : [],
      language: named(to.value) });
    const auto = from.querySelector("[value=auto]");
    if (auto) auto.textContent = result && result.detected ? `${named(result.source_language)}, detected` : "Detect language";
    cut.textContent = !result || result.parts < 2 ? ""
      : `Translated in ${result.parts} parts: a sentence stays with the one before only where its pronoun may need it.`;
    drawUnknown();
    heldTo.replaceChildren(...(held.length ? [`Begins as you chose, which no link can hold: ${held.filter(Boolean).map((one) => `“${one.text}”`).join(", ")} `,
      make("button", { type: "button", class: "tr-quiet", onclick: () => askAfresh() }, "Let it choose again")] : []));
    drawAlternatives();
    drawWords();
  }
  function drawUnknown() {
    const words = result ? result.unknown_words : [];
    unknown.replaceChildren();
    if (!words.length) return;
    unknown.append(`Never seen in training: ${words.join(", ")}. This model learnt from ${result.learnt}; what it `
      + `writes for ${words.length > 1 ? "others" : "another"} is a guess. A broader model: `, make("code", {}, result.broader));
  }
  function drawAlternatives() {
    const all = result ? result.hypotheses : [];
    others.hidden = othersAre.hidden = all.length < 2;
    othersAre.textContent = result?.drawn ? "Draws, as they came; beside each the mean log-probability of a piece, and how probable the whole is"
      : "Alternatives, by the mean log-probability of a piece; beside it how probable the whole is";
    others.replaceChildren(...(all.length < 2 ? [] : all.map((one, i) => make("li", {},
      make("button", { type: "button", class: "tr-other", dir: "auto", "aria-pressed": String(i === shown), onclick: () => choose(i) }, one.text),
      make("small", {}, `${one.score.toFixed(3)} · ${percent(Math.exp(one.log_prob))}`)))));
  }
  function choose(i) {
    shown = i;
    closeOthers();
    gradio.choose({ shown: result.shown[i] });
    draw();
  }
  // The words of both texts.  The mirror lies under the textarea, letter by letter in the same place.
  function drawWords() {
    const answer = current(), fits = answer && links && same(links.ids, result.shown[shown].parts.map((part) => part.hypothesis.token_ids));
    const parts = fits ? links.parts : [];
    const spans = { source: result ? placed(result.source_text, parts, "source") : [], target: answer ? placed(answer.text, parts, "target") : [] };
    drawSource(parts, spans.source);
    const focused = out.contains(document.activeElement) ? document.activeElement.dataset.word : null;
    out.replaceChildren();
    out.lang = result ? result.target_language : "";
    if (answer && !answer.finished && !isEarlier()) status.textContent = "Stopped at the model's limit of length: the end is missing.";
    if (answer) fillWords(out, answer.text, flat(parts, spans.target), (run, word) =>
      make("span", { class: "tr-word", "data-word": word.key, role: "button", tabindex: word.key === "0.0" ? 0 : -1, "aria-haspopup": "dialog",
        "aria-disabled": isEarlier() && "true" }, run));
    if (focused) out.querySelector(`[data-word="${focused}"]`)?.focus();
    caption.textContent = !answer || !result.parts ? "" : !fits ? "Reading which word is which…"
      : parts.length ? `Point at a word: its counterparts light up. Which word is which, ${links.said}.` : links.said;
  }
  function drawSource(parts, spans) {
    mirror.replaceChildren();
    const at = result ? text.value.indexOf(result.source_text) : -1;
    if (at < 0) { mirror.textContent = text.value + "\n"; return; }
    mirror.append(text.value.slice(0, at));
    const words = parts.length ? flat(parts, spans) : result.unknown.map((span) => ({ span, key: null }));
    const unseen = new Set(result.unknown.map(([start]) => start));
    fillWords(mirror, result.source_text, words, (run, word) => make("span", { class: "tr-word", "data-word": word.key,
      "data-unseen": unseen.has(word.span[0]) }, run));
    mirror.append(text.value.slice(at + result.source_text.length) + "\n");
  }
  const flat = (parts, spans) => spans.flatMap((each, part) => (each || []).map((span, word) => ({ span, key: `${part}.${word}` })));
  function fillWords(node, whole, words, build) {
    for (const run of wordsOf(whole, words.map((word) => word.span))) node.append(run.word === null ? run.text : build(run.text, words[run.word]));
  }
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  // --- pointing at a word
  function light(side, key) {
    root.querySelectorAll(".tr-word").forEach((word) => { delete word.dataset.on; word.style.removeProperty("--share"); });
    reading.textContent = "";
    if (key === null || !links || !links.parts.length) return;
    const [part, word] = key.split(".").map(Number), pairs = links.parts[part].pairs;
    const mine = pairs.filter((pair) => pair[side === "source" ? 0 : 1] === word);
    const [here, there] = side === "source" ? [mirror, out] : [out, mirror];
    const find = (node, number) => node.querySelector(`[data-word="${part}.${number}"]`);
    const own = find(here, word);
    if (!own) return;
    own.dataset.on = "own";
    const said = mine.map((pair) => {
      const other = find(there, pair[side === "source" ? 1 : 0]);
      if (!other) return "";
      other.dataset.on = "other";
      other.style.setProperty("--share", pair[2]);
      return `${other.textContent} ${percent(pair[2])}`;
    });
    reading.textContent = said.length ? `${own.textContent} ↔ ${said.join(", ")}` : `${own.textContent}: no counterpart found`;
  }
  const under = (event) => document.elementsFromPoint(event.clientX, event.clientY).find((node) => node.parentNode === mirror && node.dataset.word);
  text.addEventListener("pointermove", (event) => { light("source", under(event)?.dataset.word ?? null); });
  text.addEventListener("pointerleave", () => light("source", null));
  text.addEventListener("keyup", () => {  // by keyboard: the word that the cursor is in
    let at = 0;
    for (const node of mirror.childNodes) {
      at += node.textContent.length;
      if (at >= text.selectionStart) { if (node.dataset?.word) light("source", node.dataset.word); return; }
    }
  });
  const wordOf = (event) => event.target.closest?.(".tr-word");
  out.addEventListener("pointerover", (event) => light("target", wordOf(event)?.dataset.word ?? null));
  out.addEventListener("pointerleave", () => light("target", null));
  out.addEventListener("focusin", (event) => light("target", wordOf(event)?.dataset.word ?? null));
  out.addEventListener("click", (event) => { if (wordOf(event)) openOthers(wordOf(event)); });
  out.addEventListener("keydown", (event) => {
    const words = Array.from(out.querySelectorAll(".tr-word")), at = words.indexOf(wordOf(event));
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: words.length - 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); openOthers(words[at]); }
    else if (words[next]) {
      event.preventDefault();
      words.forEach((word, i) => { word.tabIndex = i === next ? 0 : -1; });
      words[next].focus();
    }
  });

  // --- what else the model thought of at a word
  function openOthers(word) {
    if (isEarlier()) return;  // they would begin a translation of another text
    const [part, number] = word.dataset.word.split(".").map(Number), { choices } = links.parts[part].others[number];
    const probability = links.parts[part].calibrated ? "calibrated probability" : "the model's own probability, not calibrated";
    const head = make("p", {}, "At “", make("b", {}, word.textContent), "” the model thought of; take one, and the rest ",
      links.parts.length > 1 ? "of this part " : "", "is translated anew:");
    const attached = (choice) => !/^[ ▁Ġ]/.test(choice.text), usual = attached(choices.find((one) => one.taken) || choices[0]);
    const written = (choice) => (attached(choice) === usual ? "" : attached(choice) ? "‑" : "␣") + choice.text.replace(/^[ ▁Ġ]/, "");
    pop.replaceChildren(head, make("ol", {}, ...choices.map((choice) => make("li", {},
      make("button", { type: "button", "aria-pressed": String(choice.taken), disabled: choice.special,
        onclick: () => take(choice, part, number) },
      make("span", { class: "tr-name" }, written(choice)), make("i", { style: `width:${Math.max(choice.probability * 80, 1)}px` }),
      make("small", { title: probability }, percent(choice.probability)))))));
    const [a, b] = [word.getBoundingClientRect(), pop.parentNode.getBoundingClientRect()];
    pop.hidden = false;
    pop.style.top = `${a.bottom - b.top + 6}px`;
    pop.style.left = `${Math.max(8, Math.min(a.left - b.left, b.width - pop.offsetWidth - 8))}px`;
    pop.returnTo = word.dataset.word;
    (pop.querySelector("button:not(:disabled)") || pop).focus();
  }
  function closeOthers(back = false) {
    if (pop.hidden) return;
    pop.hidden = true;
    if (back) out.querySelector(`[data-word="${pop.returnTo}"]`)?.focus();
  }
  function take(choice, part, number) {
    const { target_text: whole, target } = links.parts[part], before = Array.from(whole).slice(0, target[number][0]).join("");
    const earlier = links.parts.slice(0, part).map((one) => one.target_text);
    held = [{ text: [...earlier, (before.trimEnd() + choice.text.replace(/[▁Ġ]/g, " ")).trim()].join(" ") }];
    ask();
  }
  pop.addEventListener("keydown", (event) => {
    const buttons = Array.from(pop.querySelectorAll("button:not(:disabled)")), at = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (event.key === "Escape") closeOthers(true);
    else if (buttons[next]) { event.preventDefault(); buttons[next].focus(); }
  });
  pop.addEventListener("focusout", ({ relatedTarget: next }) => { if (next && !pop.contains(next)) closeOthers(); });
  document.addEventListener("pointerdown", (event) => { if (!pop.contains(event.target)) closeOthers(); });

  // --- taking away
  function copyText() { copied(copy, current().text); }
  function copyLink() { copied(link, linkTo(result.shown[shown])); }

  offer();
}
