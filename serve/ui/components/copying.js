// What a press of a button leaves on the clipboard; for a moment the button says whether it did.

async function copied(button, what) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(what);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}
// The page's own address, with what it is to translate and show when it is opened.
const addressOf = (asked) => `${location.origin}${location.pathname}?${new URLSearchParams(asked)}`;
