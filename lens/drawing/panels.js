// Panels at the side, one open at a time, chosen by tabs.

// `panels` as `attentionMap` takes them; `host` is what they are given.
function panelTabs(host, panels) {
  const node = card(), tabs = make("div", "s2s-tabs"), body = make("div", "s2s-panel");
  const made = panels.map((panel) => panel(host));
  let open = 0;
  node.classList.add("s2s-side");
  tabs.setAttribute("role", "tablist");
  tabs.setAttribute("aria-label", "Look closer");
  body.setAttribute("role", "tabpanel");
  const buttons = made.map(({ title }, i) => {
    const tab = button(title, () => show(i), "s2s-tab");
    tab.setAttribute("role", "tab");
    tabs.append(tab);
    return tab;
  });
  roving(tabs, () => buttons);
  node.append(...(made.length > 1 ? [tabs] : [make("h3", "s2s-cap", made[0].title)]), body);

  function show(i) {
    open = i;
    buttons.forEach((tab, other) => {
      tab.setAttribute("aria-selected", other === i);
      tab.tabIndex = other === i ? 0 : -1;
    });
    body.setAttribute("aria-label", made[i].title);
    if (body.firstChild !== made[i].node) body.replaceChildren(made[i].node);
    made[i].refresh();
  }
  return { node, refresh: () => show(open), reset: () => made.forEach((panel) => panel.show()) };
}
