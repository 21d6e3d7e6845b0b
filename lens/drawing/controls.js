// The few controls that the page is made of.  Text enters as textContent alone.

const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

let named = 0;  // radio groups need names of their own

// One of a few: `options` are [value, text].  `refresh()` shows what `get()` says.
function choice(legend, options, get, set, { label = legend } = {}) {
  const group = make("fieldset", "s2s-group"), row = make("span", "s2s-choice"), name = `s2s-choice-${++named}`;
  if (legend) group.append(make("legend", "", legend));
  group.append(row);
  group.setAttribute("aria-label", label);
  for (const [value, text] of options) {
    const one = make("label", "", text), input = make("input");
    Object.assign(input, { type: "radio", name, value });
    input.addEventListener("change", () => set(value));
    one.append(input);
    row.append(one);
  }
  group.refresh = () => row.querySelectorAll("input").forEach((input) => { input.checked = input.value === get(); });
  return group;
}

// One of many; `texts()` are those there are now.
function selector(legend, texts, get, set) {
  const group = make("label", "s2s-group"), list = make("select");
  group.append(make("span", "", legend), list);
  list.setAttribute("aria-label", legend);
  list.addEventListener("change", () => set(list.selectedIndex));
  group.refresh = () => {
    const names = texts();
    if (list.length !== names.length || names.some((text, i) => list.options[i].text !== text))
      list.replaceChildren(...names.map((text) => make("option", "", text)));
    list.selectedIndex = get();
  };
  return group;
}

function tick(text, get, set) {
  const label = make("label", "s2s-group s2s-tick"), input = make("input");
  input.type = "checkbox";
  input.addEventListener("change", () => set(input.checked));
  label.append(input, text);
  label.refresh = () => { input.checked = get(); };
  return label;
}

// A slider with its value as text beside it, which readers of the screen hear too.
function slider(legend, get, set, { most, said }) {
  const group = make("label", "s2s-slider"), input = make("input"), value = make("output");
  input.type = "range";
  input.min = 0;
  input.setAttribute("aria-label", legend);
  input.addEventListener("input", () => {
    set(Number(input.value));
    group.refresh();
  });
  group.append(make("span", "", legend), input, value);
  group.refresh = () => {
    input.max = most();
    input.value = get();
    value.textContent = said(get());
    input.setAttribute("aria-valuetext", value.textContent);
  };
  return group;
}

function button(text, act, className = "s2s-button") {
  const node = make("button", className, text);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

function card(caption) {
  const node = make("section", "s2s-card");
  if (caption) node.append(make("h3", "s2s-cap", caption));
  return node;
}

// The arrow keys move among `items()`, of which one alone is a stop of the tab key.  `across`: how many in a row.
function roving(box, items, across = () => 1) {
  box.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(event.target), step = across();
    const next = event.key === "ArrowLeft" ? at - 1 : event.key === "ArrowRight" ? at + 1
      : event.key === "ArrowUp" ? at - step : event.key === "ArrowDown" ? at + step
      : event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : null;
    if (at < 0 || next === null || !all[next]) return;
    event.preventDefault();
    all.forEach((item, i) => { item.tabIndex = i === next ? 0 : -1; });
    all[next].focus();
  });
}

// Rows of a table: a list of [heading, ...cells] below a list of column names.
function numberTable(caption, columns, rows) {
  const table = make("table"), first = make("tr");
  const head = (text, scope) => Object.assign(make("th", "", text), { scope });
  first.append(make("td", "", ""), ...columns.map((text) => head(text, "col")));
  table.append(make("caption", "s2s-hidden", caption), first);
  for (const [name, ...cells] of rows) {
    const line = make("tr");
    line.append(head(name, "row"), ...cells.map((cell) => make("td", "", cell)));
    table.append(line);
  }
  return table;
}
