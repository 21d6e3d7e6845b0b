// What every element of the page is made with: text enters it as textContent alone.

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const percent = (share) => share > 0 && share < 0.0005 ? "<0.1 %" : (share * 100).toFixed(share < 0.1 ? 1 : 0) + " %";
const counted = (number) => number.toLocaleString("en-GB");
