// Light or dark as the system has it, or as the reader chooses; on paper always light, with every listing open.  What is
// wider than its place is a stop of the Tab key, so that the arrow keys scroll it.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector("button.theme");
  let chosen = null;
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
  const wide = new ResizeObserver((seen) => seen.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  document.querySelectorAll("figure, .table, pre").forEach((one) => wide.observe(one));
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", back);
  show();
})();
