// Light or dark as the system has it, or as the reader chooses, or as the page around it is; on paper always light, with
// every listing open.  What is wider than its place is a stop of the Tab key, so that the arrow keys scroll it, and says
// what it is.  In a frame, the page around it has the address: it gets each link to a lesson, and sends back.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector("button.theme");
  let chosen = root.dataset.theme ?? null;
  const isFramed = chosen !== null;
  const show = (paper = false) => {
    const dark = !paper && (chosen ?? (system.matches ? "dark" : "light")) === "dark";
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    show();
  });
  system.addEventListener("change", () => show());
  addEventListener("message", ({ data, source }) => {
    if (!isFramed || source !== parent || !["light", "dark"].includes(data?.theme)) return;
    chosen = data.theme;
    show();
    if (data.at !== at) go(data.at);
  });
  let at = null;
  const go = (id) => {
    at = id;
    document.getElementById(id)?.scrollIntoView();
  };
  addEventListener("click", (event) => {
    const link = event.target.closest("main a[href^='#']");
    if (!isFramed || !link) return;
    event.preventDefault();
    go(link.getAttribute("href").slice(1));
    parent.postMessage({ at }, "*");
  });
  let opened = [];
  const toPaper = () => {
    show(true);
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((one) => { one.open = true; });
  };
  const back = () => {
    opened.forEach((one) => { one.open = false; });
    show();
  };
  const nameOf = (one) => one.querySelector("table, svg")?.getAttribute("aria-label")
    ?? one.closest("details")?.querySelector("summary").textContent ?? "Command";
  const wide = new ResizeObserver((seen) => seen.forEach(({ target }) => {
    const stop = { tabindex: 0, role: "group", "aria-label": nameOf(target) };
    const isWide = target.scrollWidth > target.clientWidth;
    Object.entries(stop).forEach(([name, value]) => (isWide ? target.setAttribute(name, value) : target.removeAttribute(name)));
  }));
  document.querySelectorAll("figure, .table, pre").forEach((one) => wide.observe(one));
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", back);
  button.hidden = isFramed;
  show();
})();
