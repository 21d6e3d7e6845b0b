// A drawing is made once, with a pen: on a canvas for the screen and for PNG, or into SVG.

const FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

function canvasPen(context) {
  const styled = (alpha) => { context.globalAlpha = alpha; };
  return {
    rect(x, y, width, height, fill, alpha = 1) {
      styled(alpha);
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
    },
    frame(x, y, width, height, stroke) {
      styled(1);
      Object.assign(context, { strokeStyle: stroke, lineWidth: 1 });
      context.strokeRect(x, y, width, height);
    },
    line(x1, y1, x2, y2, stroke, { alpha = 1, width = 1, pattern = [] } = {}) {
      styled(alpha);
      Object.assign(context, { strokeStyle: stroke, lineWidth: width });
      context.setLineDash(pattern);
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    },
    text(text, x, y, { size = 13, align = "left", fill, angle = 0, alpha = 1 }) {
      styled(alpha);
      Object.assign(context, { font: `${size}px ${FONT}`, textAlign: align, textBaseline: "middle", fillStyle: fill });
      if (!angle) return context.fillText(text, x, y);
      context.save();
      context.translate(x, y);
      context.rotate(angle * Math.PI / 180);
      context.fillText(text, 0, 0);
      context.restore();
    },
  };
}

// The same into an <svg> element; text enters as textContent.
function svgPen(width, height) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
  const add = (tag, attributes, text) => {
    const node = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    svg.append(node);
  };
  const of = (number) => Math.round(number * 100) / 100;
  const seen = (alpha) => alpha < 1 ? { opacity: of(alpha) } : {};
  for (const [name, value] of Object.entries({ xmlns: space, width, height, viewBox: `0 0 ${width} ${height}` }))
    svg.setAttribute(name, value);
  return {
    svg,
    rect: (x, y, w, h, fill, alpha = 1) =>
      add("rect", { x: of(x), y: of(y), width: of(w), height: of(h), fill, ...seen(alpha) }),
    frame: (x, y, w, h, stroke) => add("rect", { x: of(x), y: of(y), width: of(w), height: of(h), fill: "none", stroke }),
    line: (x1, y1, x2, y2, stroke, { alpha = 1, width = 1, pattern = [] } = {}) => add("line", {
      x1: of(x1), y1: of(y1), x2: of(x2), y2: of(y2), stroke, "stroke-width": width, ...seen(alpha),
      ...(pattern.length ? { "stroke-dasharray": pattern.join(" ") } : {}),
    }),
    text: (text, x, y, { size = 13, align = "left", fill, angle = 0, alpha = 1 }) => add("text", {
      x: of(x), y: of(y), fill, "font-size": size, "font-family": FONT, "dominant-baseline": "central",
      "text-anchor": { left: "start", center: "middle", right: "end" }[align], ...seen(alpha),
      ...(angle ? { transform: `rotate(${angle} ${of(x)} ${of(y)})` } : {}),
    }, text),
  };
}

// A canvas of this size in CSS pixels, sharp on every screen.
function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  ruler.font = `${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

function shortened(text, width, size) {
  if (textWidth(text, size) <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && textWidth(letters.join("") + "…", size) > width) letters.pop();
  return letters.join("") + "…";
}
