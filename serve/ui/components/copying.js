// What a press of a button leaves on the clipboard; for a moment the button says whether it did.

async function copied(button, what) {
  try {
    await navigator.clipboard.writeText(what);
    briefly(button, "Copied");
  } catch {
    briefly(button, "Not allowed");
  }
}
function briefly(button, said) {
  button.dataset.usual ??= button.textContent;
  button.textContent = said;
  setTimeout(() => { button.textContent = button.dataset.usual; }, 1500);
}
// The page's own address, with the translation that it is to show when it is opened, and `more`.
function linkTo({ text, source, target, link }, more = {}) {
  const asked = { text, ...(source ? { from: source, to: target } : {}), ...link, ...more };
  return `${location.origin}${location.pathname}?${new URLSearchParams(asked)}`;
}
