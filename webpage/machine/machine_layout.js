// Where things are on the machine's one screen, for any number of layers and tokens, in pixels of a stage of this size.

import { RULES } from "../data.js";

const { MOST_ROWS } = RULES;
const SMALLEST_MAP = 32; // pixels; heads whose maps would be smaller are dots
const PAD = 16, GAP = 5, FOLDED = 34, BOTTOM = 8;
const WEIGHTS = { encoder: 1, encoder_feed_forward: 0.42, decoder: 1, cross: 1, feed_forward: 0.42 };
const LAST = 0.68;              // of the last feed-forward block, where most is added
const NAMES = 46, LAYER = 18;   // heights of a block's name, and of the number of its layer
const OVER_RIVER = 24, UNDER_RIVER = 30;
export const GUTTER = 24; // between what carried the word and the translation's side
export const LOOKED = 0.1; // mean share of a layer's heads from which a look in the source is drawn
const BETWEEN = 42;             // from the source's rows to the translation's blocks, with the figures above these
const LEAST = 12.5, LABEL = 13; // from one label to the next at least; and where there is room
const ROW = 17, WRITTEN_ROW = 19, SHORTEST = 9;  // heights of rows: at most; and where all of them must find room
const READING = 312, SHORT = 275;  // the least height of the panel that says how to read it; where there is little
const CARRIED = 345;            // the least height of the panel under the source's rows

// `heads`: of each attention block of the encoder and the decoder; `source`, `inputs`: rows; `most`: those of the
// translation for its last word, so that the source's never move.
export function layout(wanted) {
  const at = laidOut({ ...wanted, maps: true }), [read, write] = wanted.heads;
  const fits = (blocks, kinds, heads) => blocks.every(({ kind, x0, x1 }) => !kinds.includes(kind)
    || x1 - x0 >= heads * SMALLEST_MAP - 0.5);
  const maps = fits(at.read.blocks, ["encoder"], read) && fits(at.write.blocks, ["decoder", "cross"], write);
  return maps ? at : laidOut({ ...wanted, maps: false });
}

function laidOut({ width, height, source, inputs, most, groups, maps }) {
  const isNarrow = width < 1360, cell = isNarrow ? 6 : 7, label = isNarrow ? 67 : 84;
  const carried = { x: PAD, width: isNarrow ? 246 : 274 }, choose = chooseColumn(width, isNarrow);
  const read = columnsFrom(PAD, label - 12, cell), write = columnsFrom(carried.x + carried.width + 12, label, cell);
  const decoder = placed(blocksOf(groups.decoder, ["decoder", "cross", "feed_forward"]), write.river + GAP,
    choose.x - 14);
  const all = decoder.filter((one) => one.kind === "cross"), [firstCross, lastCross] = [all[0], all.at(-1)];
  const encoder = placed(blocksOf(groups.encoder, ["encoder", "encoder_feed_forward"]), read.river + GAP,
    (firstCross ?? decoder[0]).x0 - 14);
  const mapHeight = maps ? SMALLEST_MAP + 6 : 24;

  const river = height - BOTTOM - LAYER - NAMES - mapHeight - UNDER_RIVER - 6;
  const readTop = LAYER + NAMES + mapHeight + 12;
  const free = river - OVER_RIVER - BETWEEN - readTop - 12, even = free / (source + most - 1);
  const readRow = Math.min(ROW, (height - CARRIED - readTop) / source,
    Math.max(even, Math.min(LABEL, (free - SHORTEST * (most - 1)) / source)));
  const reading = { x: (lastCross ?? decoder.at(-1)).x1 + 50, y: 12 }, space = width - reading.x - 12;
  reading.isSmall = space < 215;
  const readingEnd = (height < 720 ? SHORT : READING) + (reading.isSmall ? 215 - space - 20 : 0);
  const readEnd = readTop + source * readRow, writeTop = Math.max(readEnd, readingEnd) + BETWEEN;
  const writeRow = Math.min(WRITTEN_ROW, (river - OVER_RIVER - writeTop - 4) / Math.max(1, inputs - 1));
  return {
    width, height, cell, maps, mapHeight, isNarrow, choose,
    carried: { ...carried, y: readEnd + (height < 720 ? 10 : 18) },
    read: { ...read, blocks: encoder, top: readTop, end: readEnd, row: readRow,
      y: (i) => readTop + (i + 0.5) * readRow,
      memory: encoder.at(-1).x1 + 12, memoryEnd: (lastCross ?? decoder.at(-1)).x1 },
    write: { ...write, blocks: decoder, top: writeTop, end: river + UNDER_RIVER, row: writeRow, river: write.river,
      y: (back) => back === 0 ? river : river - OVER_RIVER - (back - 0.5) * writeRow,  // this many rows before the last
      line: river, above: OVER_RIVER - 2, below: UNDER_RIVER - 4 },
    reading,
  };
}

// A text's columns from the left: labels, the embedding's 8 cells, the position's 4, and where the vectors begin.
function columnsFrom(x, label, cell) {
  const strip = x + label + 8, place = strip + 8 * cell + 9;
  return { left: x, label: x + label, strip, place, river: place + 4 * cell + 15 };
}

function chooseColumn(width, isNarrow) {
  const own = isNarrow ? 168 : 184;
  return { x: width - own - 8, width: own };
}

// The blocks of layers and folds, in order.
const blocksOf = (groups, kinds) => groups.flatMap((group) =>
  group.layer === undefined ? [{ ...group, kind: "fold" }] : kinds.map((kind) => ({ kind, layer: group.layer })));

// The blocks side by side from x0 to x1.
function placed(blocks, x0, x1) {
  const folds = blocks.filter((one) => one.kind === "fold").length;
  const isLast = (i) => i === blocks.length - 1 && blocks[i].kind === "feed_forward";
  const weight = (one, i) => one.kind === "fold" ? 0 : isLast(i) ? LAST : WEIGHTS[one.kind];
  const gap = blocks.length > 8 ? GAP - 2 : GAP, room = x1 - x0 - gap * (blocks.length - 1) - FOLDED * folds;
  const unit = room / blocks.reduce((sum, one, i) => sum + weight(one, i), 0);
  let x = x0;
  return blocks.map((one, i) => {
    const width = one.kind === "fold" ? FOLDED : unit * weight(one, i), place = { ...one, x0: x, x1: x + width };
    x += width + gap;
    return place;
  });
}

// The tokens that are drawn: the first 30 of each text, and always the one at work.  `back`: rows before that one;
// `left`: tokens before it that are not drawn; `most`: rows of the translation for its last word.
export function rowsFor({ source, inputs }, step) {
  const first = (count) => [...Array(Math.min(count, MOST_ROWS)).keys()], all = first(step + 1);
  const drawn = all.includes(step) ? all : [...all.slice(0, -1), step];
  return { step, source: first(source.length), inputs: drawn, left: step + 1 - drawn.length,
    back: (j) => drawn.length - 1 - drawn.indexOf(j), most: Math.min(inputs.length, MOST_ROWS) };
}

// Which labels of rows fit, and where: those in use first, moved apart; then those with room.  { i: y }
export function labelled(rows, y, height, isUsed) {
  if (height >= LEAST) return new Map(rows.map((i) => [i, y(i)]));
  const groups = [], topOf = (ids) => ids.reduce((sum, id, k) => sum + y(id) - k * LEAST, 0) / ids.length;
  for (const i of rows.filter(isUsed)) {
    let group = [i];
    const isClose = (above) => above && topOf(above) + above.length * LEAST > topOf(group);
    while (isClose(groups.at(-1))) group = [...groups.pop(), ...group];
    groups.push(group);
  }
  const places = new Map(groups.flatMap((ids) => ids.map((id, k) => [id, topOf(ids) + k * LEAST])));
  const isFree = (i) => [...places.values()].every((other) => Math.abs(other - y(i)) >= LEAST);
  for (const i of rows) if (!places.has(i) && isFree(i)) places.set(i, y(i));
  return places;
}
