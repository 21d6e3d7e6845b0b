// `lessonsList(root, gradio)`: what a run of the lessons left, one below the other, each of them opened by its title.

function lessonsList(root, { props, watch, run, look }) {
  const BADGES = { holds: "holds", "holds partly": "partly", "not decidable here": "open" };
  let stamp = null;

  // `code` and *words spoken of*; everything else is plain.
  function rich(text) {
    return text.split(/(`[^`]+`|\*\w[^*]*\*)/).filter(Boolean).map((part) =>
      /^`.*`$/.test(part) ? make("code", {}, part.slice(1, -1)) : /^\*\w[^*]*\*$/.test(part) ? make("em", {}, part.slice(1, -1)) : part);
  }
  const paragraph = (text, attributes = {}) => make("p", attributes, ...rich(text));
  const badge = (word) => make("span", { class: `ls-badge ls-${BADGES[word] || "not"}` }, word);
  // A picture of our own making; nothing in it may run all the same.
  function picture(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    if (parsed.querySelector("parsererror") || parsed.documentElement.localName !== "svg") return null;
    parsed.querySelectorAll("script, foreignObject, a, image, animate, set").forEach((node) => node.remove());
    parsed.querySelectorAll("*").forEach((node) => Array.from(node.attributes).forEach((one) => {
      if (/^on/i.test(one.name) || (/href$/i.test(one.name) && !one.value.startsWith("#"))) node.removeAttribute(one.name);
    }));
    return document.importNode(parsed.documentElement, true);
  }
  function table({ caption, columns, rows }) {
    return make("div", { class: "ls-table", tabindex: 0, role: "region", "aria-label": caption }, make("table", {}, make("caption", {}, ...rich(caption)),
      make("thead", {}, make("tr", {}, ...columns.map((one) => make("th", { scope: "col" }, ...rich(one))))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, ...rich(String(cell)))))))));
  }
  function body(lesson) {
    const { verdict } = lesson, part = (title, ...nodes) => nodes.length ? [make("h4", {}, title), ...nodes] : [];
    return [
      paragraph(lesson.claim, { class: "ls-claim" }), paragraph(verdict.why),
      make("figure", {}, picture(lesson.svg)),
      ...part("What was done", ...lesson.how.split(/\n\s*\n/).map((one) => paragraph(one))),
      ...part("What came out", ...verdict.findings.map((one) => make("div", { class: "ls-finding" }, badge(one.word), make("b", {}, ...rich(one.claim)), paragraph(one.why)))),
      ...lesson.tables.map(table),
      ...part("The lines that matter", ...lesson.code.map((one) => make("details", {}, make("summary", {}, `${one.file}, line ${one.line}`), make("pre", { tabindex: 0 }, one.source)))),
      ...part("Try next", paragraph(lesson.try), ...(lesson.look ? [make("button", { type: "button", class: "ls-try", onclick: () => look(lesson.look) },
        `Look at “${lesson.look.text}”, layer ${lesson.look.layer}, head ${lesson.look.head}`)] : [])),
    ];
  }
  function article(lesson) {
    const node = make("details", { class: "ls-lesson", id: `lesson-${lesson.number}` },
      make("summary", {}, make("span", { class: "ls-number" }, String(lesson.number)), make("span", { class: "ls-title" }, ...rich(lesson.title)), badge(lesson.verdict.word)));
    node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(make("div", { class: "ls-body" }, ...body(lesson))); });
    return node;
  }
  function list(record) {
    const lessons = Object.fromEntries(record.lessons.map((one) => [one.number, one]));
    return [
      make("p", { class: "ls-lead" }, "What study notes say of attention, each claim run and measured on this model: the number, the picture, and a verdict that code reached."),
      ...(record.budget === "full" ? [] : [make("p", { class: "ls-warning" }, "These were run with as little work as shows that they run: their verdicts mean nothing.")]),
      make("p", { class: "ls-soft" }, ...rich(record.model)),
      ...record.chapters.flatMap((chapter) => [make("h3", {}, ...rich(chapter.title)), paragraph(chapter.about, { class: "ls-soft" }), ...chapter.lessons.map((number) => article(lessons[number]))]),
    ];
  }
  function none({ running, said, may_run: mayRun, ready, command }) {
    if (running) return [make("p", { class: "ls-lead" }, "The lessons are being run. It takes ten to twenty minutes on two cores; they can be read here when they are done."),
      make("pre", { class: "ls-said", role: "status" }, said.join("\n"))];
    return [
      make("p", { class: "ls-lead" }, "Eighteen lessons run what study notes say of attention on a real trained model, and judge each claim by its number. They have not been run here yet."),
      ...(said.length ? [make("p", { class: "ls-warning" }, "The last run ended before its end:"), make("pre", { class: "ls-said" }, said.join("\n"))] : []),
      ...(mayRun && !ready ? [make("p", { class: "ls-soft" }, "They are run on this page's model, which is not ready yet: then a button here runs them.")]
        : mayRun ? [make("button", { type: "button", class: "ls-run", onclick: run }, "Run the lessons"), make("p", { class: "ls-soft" }, "Ten to twenty minutes on two cores; the page can be used meanwhile.")]
        : [make("p", { class: "ls-soft" }, "On the machine that serves this page, this runs them: ", make("code", {}, command))]),
    ];
  }
  function draw() {
    const value = props.value;
    if (!value) return;
    if (value.record && value.stamp === stamp) return;  // what is open stays open
    stamp = value.record ? value.stamp : null;
    root.replaceChildren(...(value.record ? list(value.record) : none(value)));
  }
  watch("value", draw);
  draw();
}
