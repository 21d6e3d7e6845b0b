// The tab Look: what is shown, part by part, and the server's answers to what is asked of it.
// After the files of the lens and of the panels; `element`, `props`, `watch` and `server` are Gradio's.

const look = element.querySelector(".s2s-look"), top_ = make("div", "s2s-parts"), root = make("div", "s2s");
let shown = null, drawn = null, part = 0;  // what is to be seen, and what is
look.append(top_, root);
top_.setAttribute("role", "status");

// An answer of the server; an Error with the line to show where it says no.
async function ask(name, asked = {}) {
  const answer = await server[name]({ shown, part, ...asked });
  if (!answer) throw new Error("The server does not answer; is it still running?");
  if (answer.error) throw new Error(answer.error);
  return answer;
}

async function takeAway(form) {
  try {
    const { text } = await ask("take", { form });
    save(`look.${form}`, text, form === "html" ? "text/html" : "application/json");
  } catch (error) {
    top_.textContent = error.message;
  }
}

function copyLink({ state: { kind, layer, head } }, button) {
  if (shown.link === null) briefly(button, "Not with a beginning that was chosen");
  else copied(button, linkTo(shown, { look: [kind, layer, head].join() }));
}

const map = attentionMap(root, {
  panels: [stepPanel, arithmeticPanel, switchOffPanel, whatIfPanel, wordsPanel, trainingPanel],
  saves: [["JSON", () => takeAway("json")], ["HTML page", () => takeAway("html")], ["Link", copyLink]],
  fetchView: (view) => ask("maps", { view }),
  help: { ask, language: () => shown.source, lensOf: layersOf, models: () => map.host.data.models.filter((name) => name !== shown.model) },
});

function partChoice() {
  if (!shown || shown.parts.length < 2) return top_.replaceChildren();
  const names = shown.parts.map(({ text }, i) => `${i + 1} of ${shown.parts.length}: ${text.slice(0, 60)}`);
  const list = selector("The text was translated in parts; look at", () => names, () => part, (i) => {
    part = i;
    drawn = null;
    draw();
  });
  list.refresh();
  top_.replaceChildren(list);
}

async function draw() {
  if (!element.clientWidth || drawn === shown) return;  // nothing is worked out for a tab that is closed
  const asked = drawn = shown;
  partChoice();
  if (!asked) {
    map.show(null);
    root.replaceChildren(make("p", "s2s-empty", "Translate a sentence first: its maps come here."));
    return;
  }
  root.setAttribute("aria-busy", "true");
  if (!root.querySelector(".s2s-main")) root.replaceChildren(make("p", "s2s-empty", "Looking …"));
  try {
    const data = await ask("maps");
    if (drawn !== asked) return;
    map.show(data);
    const { kind, layer, head } = data.start;
    if (asked.start) map.choose({ kind, layer, head });  // else what was chosen stays chosen
  } catch (error) {
    if (drawn !== asked) return;
    map.show(null);
    root.replaceChildren(make("p", "s2s-empty", error.message));
  } finally {
    root.removeAttribute("aria-busy");
  }
}

function take() {
  const value = props.value || null;
  if (JSON.stringify(value) === JSON.stringify(shown)) return draw();
  [shown, part, drawn] = [value, 0, undefined];
  draw();
}
new ResizeObserver(draw).observe(element);
watch("value", take);
drawn = undefined;
take();
draw();
