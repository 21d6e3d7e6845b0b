// The machine on a wide screen as HTML: the stage in a room of { width, height } pixels, with the two panels beside it.

import { layout, rowsFor } from "./machine_layout.js";
import { carriedPanel, readingPanel } from "./machine_panels.js";
import { stage } from "./machine_stage.js";
import { folded } from "./machine_sums.js";
import { html } from "../common/markup.js";

export function wideStage(room, shown) {
  const rows = rowsFor(shown.trace.record, shown.step), at = layoutIn(room, shown, rows);
  return html`<div class="card m-card" style="height:${at.height}px">${stage(shown, at, rows)}${
    carriedPanel(shown, at)}${readingPanel(shown, at, rows)}</div>`;
}

function layoutIn(room, { trace, f, state }, rows) {
  const { sizes } = trace, { unfolded = [] } = state.machine;
  const layers = (side, kind, blocks) => f && !unfolded.includes(side) ? folded(blocks, sizes[kind][0])
    : Array.from({ length: sizes[kind][0] }, (_, layer) => ({ layer }));
  const groups = { encoder: layers("encoder", "encoder", f?.read.blocks),
    decoder: layers("decoder", "cross", f?.blocks) };
  return layout({ ...room, groups, heads: [sizes.encoder[1], sizes.cross[1]],
    source: rows.source.length, inputs: rows.inputs.length, most: rows.most });
}
