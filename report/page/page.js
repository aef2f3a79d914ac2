/* The page: a table of loops at one size on one machine, and pictures of one of them over all sizes.

   Nothing is computed here that the table shows: each figure is what pmodel wrote, as digits, decimals
   and a unit (report/page/codes.c).  Pictures take their numbers from the same figures. */
"use strict";

/* ---- the data ------------------------------------------------------------------------------------ */

/* The JSON document and the bytes behind it (report/page/page.c). */
async function unpack() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  return { page: JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), bytes: bytes.subarray(4 + length) };
}

const SCALES = { " s": 1, " ms": 1e-3, " us": 1e-6, " ns": 1e-9, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
const scaleOf = suffix => suffix === "" ? 1 : SCALES[suffix] || (suffix[0] === "e" ? Number("1" + suffix) : NaN);

/* Figures by machine, field, row and point. */
class Figures {
  constructor(page, bytes) {
    this.page = page;
    this.starts = [];
    let n = 0;
    for (const machine of page.machines) {
      this.starts.push(n);
      n += machine.fields.length * page.rows.length * page.points.length;
    }
    this.styles = bytes.subarray(0, n);
    this.high = bytes.subarray(n, 2 * n);
    this.low = bytes.subarray(2 * n, 3 * n);
    this.end = 3 * n;
    this.fields = page.machines.map(m => new Map(m.fields.map((f, i) => [f.name, i])));
  }
  at(machine, name, row, point) {
    const field = this.fields[machine].get(name), { rows, points } = this.page;
    return field === undefined ? -1 : this.starts[machine] + (field * rows.length + row) * points.length + point;
  }
  /* As the table of `pmodel report` has it. */
  text(machine, name, row, point) {
    const i = this.at(machine, name, row, point);
    if (i < 0) return "";
    const digits = 256 * this.high[i] + this.low[i], { styles, texts } = this.page.codes;
    if (this.styles[i] === 0) return texts[digits];
    const [mark, decimals, suffix] = styles[this.styles[i]];
    let text = String(digits).padStart(decimals + 1, "0");
    if (decimals) text = text.slice(0, -decimals) + "." + text.slice(-decimals);
    return mark + text + suffix;
  }
  value(machine, name, row, point) {
    const i = this.at(machine, name, row, point);
    if (i < 0 || this.styles[i] === 0) return NaN;
    const [, decimals, suffix] = this.page.codes.styles[this.styles[i]];
    return (256 * this.high[i] + this.low[i]) / 10 ** decimals * scaleOf(suffix);
  }
}

/* Reuse distances by block size, row and point: slots, and the share of the accesses in each
   (report/page/page_distances.c). */
class Distances {
  constructor(page, bytes) {
    this.page = page;
    const n = page.block_sizes.length * page.rows.length * page.points.length;
    this.first = new Uint32Array(n + 1);
    for (let i = 0; i < n; i++) this.first[i + 1] = this.first[i] + bytes[i];
    const all = this.first[n];
    this.slots = bytes.subarray(n, n + all);
    this.high = bytes.subarray(n + all, n + 2 * all);
    this.low = bytes.subarray(n + 2 * all, n + 3 * all);
  }
  /* [[distance, share]], ascending; first touches have an infinite one. */
  of(blockBytes, row, point) {
    const { block_sizes, rows, points } = this.page, list = [];
    const i = (block_sizes.indexOf(blockBytes) * rows.length + row) * points.length + point;
    for (let k = this.first[i]; k < this.first[i + 1]; k++)
      list.push([this.slots[k] === 255 ? Infinity : 2 ** (this.slots[k] / 4) - 1, (256 * this.high[k] + this.low[k]) / 65535]);
    return list;
  }
}

/* ---- what is shown ------------------------------------------------------------------------------- */

let page, figures, distances;
const shown = { machine: 0, stop: 0, row: -1, sort: "total_seconds", descending: true, closed: new Set() };
let stops; /* values of the slider: {value, given, point, modelled}: the point that is shown, and that of the models */
const byId = id => document.getElementById(id);
const escape = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const round = value => !isFinite(value) ? "?" : value === 0 ? "0" : Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
  ? Number(value.toPrecision(3)).toExponential() : String(Number(value.toPrecision(3)));

function findStops() {
  stops = [];
  page.points.forEach((p, i) => {
    let stop = stops[stops.length - 1];
    if (!stop || stop.value !== p.value) stops.push(stop = { value: p.value, given: false, point: i, modelled: -1 });
    stop.given ||= p.given;
    if (p.measured) stop.point = i; /* as in a report, what was measured comes before what is modelled */
    else stop.modelled = i;
  });
}

const point = () => stops[shown.stop].point;
const isThere = row => figures.text(shown.machine, "self_seconds", row, point()) !== "";

/* ---- the table ----------------------------------------------------------------------------------- */

/* Columns: name of the field, or of what is said of the row, and head. */
function columns() {
  const list = [["label", "LOOP"], ["self_seconds", "TIME"], ["self_share", "%"], ["total_seconds", "WITH INNER"]];
  if (page.points[point()].timed_on) list.push(["measured_seconds", "MEASURED"]);
  list.push(["bound", "BOUND BY"], ["source", "SOURCE"]);
  for (const f of page.machines[shown.machine].fields)
    if (f.name.startsWith("misses:")) list.push([f.name, f.header]);
  return list;
}

const isText = name => name === "label" || name === "source" || name === "bound";
function cell(name, row) {
  return name === "label" || name === "source" ? page.rows[row][name] : figures.text(shown.machine, name, row, point());
}

function compare(a, b) {
  const name = shown.sort, turn = shown.descending ? -1 : 1;
  if (isText(name)) return turn * cell(name, a).localeCompare(cell(name, b), undefined, { numeric: true }) || a - b;
  const x = figures.value(shown.machine, name, a, point()), y = figures.value(shown.machine, name, b, point());
  if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || a - b;
  return turn * (x - y) || a - b;
}

/* Rows in the order in which they stand, each with its depth and whether it has rows in it. */
function listRows() {
  const wanted = byId("filter").value.trim().toLowerCase(), tree = byId("tree").checked && !wanted;
  const there = page.rows.map((_, i) => i).filter(isThere)
    .filter(i => !wanted || page.rows[i].label.toLowerCase().includes(wanted));
  if (!tree) return there.sort(compare).map(row => ({ row, depth: 0, inner: false }));
  const inner = new Map([[-1, []]]), list = [];
  for (const row of there) {
    let around = page.rows[row].parent;
    while (around !== null && !isThere(around)) around = page.rows[around].parent;
    around ??= -1;
    if (!inner.has(around)) inner.set(around, []);
    inner.get(around).push(row);
  }
  (function add(around, depth) {
    for (const row of inner.get(around).sort(compare)) {
      list.push({ row, depth, inner: inner.has(row) });
      if (inner.has(row) && !shown.closed.has(row)) add(row, depth + 1);
    }
  })(-1, 0);
  return list;
}

function drawTable() {
  const list = columns(), rows = listRows();
  byId("table").tHead.innerHTML = "<tr>" + list.map(([name, head]) =>
    `<th scope="col" class="${isText(name) ? "text" : ""}" aria-sort="${name !== shown.sort ? "none" : shown.descending ? "descending" : "ascending"}">` +
    `<button data-sort="${escape(name)}">${escape(head)}${name !== shown.sort ? "" : shown.descending ? " ▾" : " ▴"}</button></th>`).join("") + "</tr>";
  byId("table").tBodies[0].innerHTML = rows.map(({ row, depth, inner }) =>
    `<tr data-row="${row}" tabindex="${row === shown.row ? 0 : -1}" aria-level="${depth + 1}" aria-selected="${row === shown.row}"` +
    `${inner ? ` aria-expanded="${!shown.closed.has(row)}"` : ""}>` + list.map(([name]) => name === "label"
      ? `<td class="text" style="padding-left:${8 + 14 * depth}px"><span class="toggle" aria-hidden="true">${inner ? (shown.closed.has(row) ? "▸" : "▾") : ""}</span>${escape(cell(name, row))}</td>`
      : `<td class="${isText(name) ? "text" : ""}">${escape(cell(name, row))}</td>`).join("") + "</tr>").join("");
  const first = byId("table").tBodies[0].rows[0];
  if (first && !byId("table").querySelector('tbody [tabindex="0"]')) first.tabIndex = 0;
}

function drawHeadline() {
  const p = page.points[point()], machine = page.machines[shown.machine];
  byId("size-text").textContent = p.size;
  byId("size").setAttribute("aria-valuetext", p.size);
  byId("headline").textContent = `${p.size} on ${machine.title}: predicted ${p.seconds[shown.machine]}, ${p.range}`;
  byId("notes").innerHTML = machine.notes.map(n => `<li>${escape(n)}</li>`).join("");
}

/* ---- drawings: a panel with axes ----------------------------------------------------------------- */

/* A scale from values to places; both ends of a logarithmic one are above 0. */
function scale(low, high, from, to, log) {
  const f = log ? Math.log : x => x, a = f(low), b = f(high);
  const at = value => from + (to - from) * Math.min(Math.max(b > a ? (f(value) - a) / (b - a) : 0, 0), 1);
  return Object.assign(at, { low, high, log });
}

function ticks(s, most) {
  const list = [];
  if (!s.log) {
    const ten = 10 ** Math.floor(Math.log10(s.high / most)), step = [1, 2, 5, 10].map(d => d * ten).find(d => s.high / d <= most);
    for (let i = 0; i * step <= s.high * 1.001; i++) list.push(i * step);
    return list;
  }
  const decades = Math.log10(s.high / s.low), digits = decades <= 3 && most > 4 ? [1, 2, 5] : [1];
  const skip = 10 ** Math.max(1, Math.ceil(decades / most));
  for (let ten = 10 ** Math.floor(Math.log10(s.low) + 1e-9); ten <= s.high * 1.001; ten *= skip)
    for (const d of digits) if (d * ten >= s.low * 0.999 && d * ten <= s.high * 1.001) list.push(d * ten);
  return list;
}

const axisEnds = (low, high) => [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
const place = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
const say = (x, y, text, style = "") => `<text class="${style}" x="${x.toFixed(1)}" y="${y.toFixed(1)}">${escape(text)}</text>`;

function axes(box, x, y, across, upwards) {
  let svg = "";
  for (const v of ticks(x, box.width / 70))
    svg += `<path class="grid" d="M${place(x(v), box.top)}V${box.bottom}"/>` + say(x(v), box.bottom + 14, round(v), "middle");
  for (const v of ticks(y, 8))
    svg += `<path class="grid" d="M${place(box.left, y(v))}H${box.right}"/>` + say(box.left - 5, y(v) + 4, round(v), "end");
  return svg + say((box.left + box.right) / 2, box.bottom + 30, across, "middle") + say(2, 12, upwards);
}

/* The area of a panel in a drawing as wide as there is room. */
function boxOf(width, height) {
  const box = { left: 56, top: 24, right: width - 10, bottom: height - 40, all: width, height };
  return Object.assign(box, { width: box.right - box.left });
}

const wrap = (box, title, text, svg) =>
  `<svg viewBox="0 0 ${box.all} ${box.height}" role="img" aria-label="${escape(title + ". " + text)}">${svg}</svg>`;

const key = (style, filled, name) => `<span style="white-space:nowrap;margin-right:10px"><svg style="display:inline;width:20px;height:10px" viewBox="0 0 20 10" aria-hidden="true">` +
  (filled ? `<path class="area s${style}" d="M1 0h18v10h-18z"/>` : `<path class="curve s${style}" d="M0 5h20"/>`) + `</svg> ${escape(name)}</span>`;

/* The figures of a picture for those who do not see it. */
const asTable = (heads, rows) => `<details><summary>figures</summary><div class="wide"><table><thead><tr>${heads.map(h => `<th scope="col">${escape(h)}</th>`).join("")}</tr></thead>` +
  `<tbody>${rows.map(r => `<tr>${r.map(c => `<td>${escape(c)}</td>`).join("")}</tr>`).join("")}</tbody></table></div></details>`;

/* ---- pictures ------------------------------------------------------------------------------------ */

/* Points that lines are drawn through: the models', or without models what was measured. */
const drawnPoints = () => stops.map(s => s.modelled >= 0 ? s.modelled : page.measured_high === null ? s.point : -1).filter(i => i >= 0);
const measuredPoints = () => page.points.map((_, i) => i).filter(i => page.points[i].measured);
const sizes = () => scale(stops[0].value, Math.max(stops[stops.length - 1].value, stops[0].value * 1.01), 0, 1, true);
const value = (name, p) => figures.value(shown.machine, name, shown.row, p);
const anIteration = (name, p) => value(name, p) / value("iterations", p);

/* What figures are divided by: iterations of a loop, calls of a routine. */
const unit = () => page.rows[shown.row].kind === "loop" ? "iteration" : "call";
const aUnit = () => unit() === "call" ? "a call" : "an iteration";

function acrossSizes(box) {
  const all = sizes();
  return scale(all.low, all.high, box.left, box.right, true);
}

function nowAndEnd(box, x) {
  let svg = `<path class="now" d="M${place(x(stops[shown.stop].value), box.top)}V${box.bottom}"/>`;
  if (page.measured_high !== null && page.measured_high < x.high)
    svg += `<path class="cut" d="M${place(x(page.measured_high), box.top)}V${box.bottom}"/>` +
      say(x(page.measured_high) + 3, box.top - 2, "measured up to here");
  return svg;
}

/* Cycles of an iteration against the size, by cause. */
function timePicture(width) {
  const box = boxOf(width, 300), points = drawnPoints().filter(p => value("iterations", p) > 0);
  const least = 0.005, causes = page.machines[shown.machine].fields.map(f => f.name).filter(n => n.startsWith("cause:"));
  const sum = p => causes.reduce((all, c) => all + (value(c, p) || 0), 0);
  const parts = causes.filter(c => points.some(p => value(c, p) > least * sum(p)));
  const clock = measuredPoints().filter(p => page.points[p].timed_on && page.machines[shown.machine].title.includes(page.points[p].timed_on) &&
    !figures.text(shown.machine, "measured_seconds", shown.row, p).startsWith("<") && anIteration("measured_seconds", p) > 0);
  const hz = page.machines[shown.machine].clock_hz, most = Math.max(1e-9, ...points.map(p => sum(p) / value("iterations", p)), ...clock.map(p => anIteration("measured_seconds", p) * hz));
  const x = acrossSizes(box), y = scale(0, most * 1.05, box.bottom, box.top, false), below = points.map(() => 0);
  let svg = axes(box, x, y, page.parameter, `cycles of ${aUnit()}`);
  parts.forEach((cause, k) => {
    const part = p => (anIteration(cause, p) || 0);
    const upper = points.map((p, i) => place(x(page.points[p].value), y(below[i] + part(p))));
    const lower = points.map((p, i) => place(x(page.points[p].value), y(below[i]))).reverse();
    if (points.length) svg += `<path class="area s${k % 12}" d="M${upper.concat(lower).join("L")}Z"/>`;
    points.forEach((p, i) => below[i] += part(p));
  });
  for (const p of clock)
    svg += `<circle class="dot s8" cx="${x(page.points[p].value).toFixed(1)}" cy="${y(anIteration("measured_seconds", p) * hz).toFixed(1)}" r="4"/>`;
  const words = cause => cause.slice(6).replaceAll("_", " "), now = point();
  const share = parts.map(c => [words(c), value(c, now) / sum(now)]).filter(s => s[1] >= 0.01).sort((a, b) => b[1] - a[1]);
  const text = `At ${page.points[now].size} ${aUnit()} takes ${round(sum(now) / value("iterations", now))} cycles` +
    (share.length ? `: ${share.map(([n, s]) => `${round(100 * s)}% ${n}`).join(", ")}.` : ".");
  return wrap(box, "Time against size by cause", text, svg + nowAndEnd(box, x)) +
    `<figcaption><b>Time against size, by cause.</b> ${escape(text)}${clock.length ? " Circles: measured by a clock." : ""}<br>${parts.map((c, k) => key(k % 12, true, words(c))).reverse().join("")}</figcaption>` +
    asTable([page.parameter, ...parts.map(words)], points.map(p => [page.points[p].value, ...parts.map(c => round(anIteration(c, p) || 0))]));
}

/* Misses of an iteration against the size, level by level. */
function missesPicture(width) {
  const box = boxOf(width, 300), levels = page.machines[shown.machine].levels.map(l => l.name), least = 1e-7;
  const misses = (level, p) => value("misses:" + level, p), points = drawnPoints(), dots = measuredPoints();
  const all = levels.flatMap(l => points.concat(dots).map(p => misses(l, p))).filter(v => v >= least);
  if (!all.length) return "<figcaption><b>Misses against size.</b> No level has any, or they are not known.</figcaption>";
  const [low, high] = axisEnds(Math.min(...all), Math.max(...all));
  const x = acrossSizes(box), y = scale(low, Math.max(high, 10 * low), box.bottom, box.top, true);
  let svg = axes(box, x, y, page.parameter, `misses for each ${unit()}`);
  levels.forEach((level, k) => {
    for (const beyond of [false, true]) {
      let d = "", last = "", open = false;
      for (const p of points) {
        const v = misses(level, p), drawn = v >= low, here = drawn ? place(x(page.points[p].value), y(v)) : "";
        const isBeyond = page.measured_high !== null && page.points[p].value > page.measured_high;
        if (drawn && isBeyond === beyond) {
          if (!open) d += beyond && last ? `M${last}L${here}` : `M${here}`;
          else d += `L${here}`;
          open = true;
        } else open = false;
        last = here;
      }
      if (d) svg += `<path class="curve s${k}${beyond ? " beyond" : ""}" d="${d}"/>`;
    }
    const end = points.findLast(p => misses(level, p) >= low); /* its name, for those who see no colours */
    if (end !== undefined) svg += say(x(page.points[end].value) - 4 - 26 * (k % 3), y(misses(level, end)) - 4, level, "end");
    for (const p of dots.filter(p => misses(level, p) >= low))
      svg += `<circle class="dot s${k}" cx="${x(page.points[p].value).toFixed(1)}" cy="${y(misses(level, p)).toFixed(1)}" r="3.5"/>`;
  });
  const now = point(), text = `At ${page.points[now].size}: ${levels.map(l => `${l} ${figures.text(shown.machine, "misses:" + l, shown.row, now)}`).join(", ")} misses for each ${unit()}.`;
  return wrap(box, "Misses against size", text, svg + nowAndEnd(box, x)) +
    `<figcaption><b>Misses against size.</b> ${escape(text)} Lines: predicted, dashed beyond the measured sizes; circles: measured.<br>${levels.map((l, k) => key(k, false, l)).join("")}</figcaption>` +
    asTable([page.parameter, "", ...levels], points.map(p => [p, "predicted"]).concat(dots.map(p => [p, "measured"])).sort((a, b) => a[0] - b[0])
      .map(([p, how]) => [page.points[p].value, how, ...levels.map(l => figures.text(shown.machine, "misses:" + l, shown.row, p))]));
}

/* Reuse distances at the size that is shown, with the levels' capacities as cuts (Figure 5 of Marin &
   Mellor-Crummey 2004); one panel for each block size of the machine. */
function histogramPicture(width) {
  const machine = page.machines[shown.machine], blocks = [...new Set(machine.levels.map(l => l.block_bytes))];
  return blocks.map(bytes => {
    const list = distances.of(bytes, shown.row, point()), levels = machine.levels.filter(l => l.block_bytes === bytes);
    const name = `Reuse distances at ${page.points[point()].size}, blocks of ${bytes} bytes`;
    if (!list.length) return `<figcaption><b>${escape(name)}.</b> No accesses.</figcaption>`;
    const box = boxOf(width, 240), finite = list.map(d => d[0]).filter(isFinite);
    const most = Math.max(10, ...finite, ...levels.map(l => l.blocks));
    const x = scale(0, 1, box.left, box.right, false), y = scale(1, axisEnds(1, 2 * most)[1], box.bottom, box.top, true);
    let svg = axes(box, x, y, "share of the accesses, nearest first", "distance + 1, blocks"), below = 0, d = "";
    for (const [distance, share] of list) {
      const up = isFinite(distance) ? y(distance + 1) : box.top;
      d += `${d ? "L" : "M"}${place(x(below), up)}L${place(x(below + share), up)}`;
      below += share;
    }
    svg += `<path class="curve s0" d="${d}"/>`;
    const cuts = levels.map(l => [l, list.filter(([distance]) => distance < l.blocks).reduce((all, e) => all + e[1], 0)]);
    for (const [l] of cuts) svg += `<path class="cut" d="M${place(box.left, y(l.blocks))}H${box.right}"/>` + say(box.left + 4, y(l.blocks) - 3, `${l.name}: ${l.blocks} blocks`);
    const text = cuts.map(([l, share]) => `${round(100 * share)}% of the accesses are nearer than ${l.name}'s ${l.blocks} blocks`).join(", ") + ".";
    return wrap(box, name, text, svg) + `<figcaption><b>${escape(name)}.</b> ${escape(text)} First touches are at the top.</figcaption>` +
      asTable(["distance, about", "share"], list.map(([distance, share]) => [isFinite(distance) ? round(distance) : "first touch", round(100 * share) + "%"]));
  }).join("");
}

/* The distance that a share of the accesses is not beyond. */
function quantile(list, share) {
  let below = 0;
  for (const [distance, part] of list) if (share <= (below += part)) return distance;
  return list.length ? list[list.length - 1][0] : NaN;
}

/* Reuse distances over all sizes (Figure 4): the size to the right, accesses to the back, the distance
   upwards. */
function surfacePicture(width) {
  const bytes = page.machines[shown.machine].levels[0]?.block_bytes, name = `Reuse distances over ${page.parameter}, blocks of ${bytes} bytes`;
  const SHARES = 24, MOST = 24, all = drawnPoints(), step = Math.max(1, all.length / MOST);
  const points = []; for (let i = 0; i < all.length; i += step) points.push(all[Math.floor(i)]);
  const lists = points.map(p => distances.of(bytes, shown.row, p));
  if (bytes === undefined || points.length < 2 || lists.some(l => !l.length)) return "";
  const box = boxOf(width, 300), most = 2 * Math.max(10, ...lists.flat().map(e => e[0]).filter(isFinite));
  const right = 0.62 * (width - 80), back = 0.28 * (width - 80), size = scale(page.points[points[0]].value, page.points[points[points.length - 1]].value, 0, 1, true);
  const up = scale(1, axisEnds(1, most)[1], 0, 1, true), height = distance => isFinite(distance) ? up(distance + 1) : 1;
  const at = (s, share, h) => [48 + right * s + back * share, 215 + 45 * s - 70 * share - 130 * h];
  let svg = "";
  for (let k = SHARES - 1; k >= 0; k--)
    for (let i = 0; i + 1 < points.length; i++) {
      const corners = [[i, k + 0.001], [i + 1, k + 0.001], [i + 1, k + 0.999], [i, k + 0.999]].map(([p, s]) => [p, s / SHARES, height(quantile(lists[p], s / SHARES))]);
      const mean = corners.reduce((sum, c) => sum + c[2] / 4, 0), light = Math.round(245 - 190 * mean);
      svg += `<path class="facet" fill="rgb(${light},${light},${light + Math.round((255 - light) / 4)})" d="M${corners.map(([p, s, h]) => place(...at(size(page.points[points[p]].value), s, h))).join("L")}Z"/>`;
    }
  for (const level of page.machines[shown.machine].levels.filter(l => l.block_bytes === bytes)) {
    const cut = points.map((p, i) => [size(page.points[p].value), lists[i].filter(e => e[0] < level.blocks).reduce((sum, e) => sum + e[1], 0)]).filter(c => c[1] < 0.999);
    if (cut.length > 1) svg += `<path class="curve s1" d="M${cut.map(([s, share]) => place(...at(s, share, up(level.blocks + 1)))).join("L")}"/>` +
      say(at(...cut[cut.length - 1], up(level.blocks + 1))[0] + 4, at(...cut[cut.length - 1], up(level.blocks + 1))[1], level.name);
  }
  const [o, r, b, t] = [at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 0, 1)];
  svg += `<path class="cut" d="M${[t, o, r, b].map(c => place(...c)).join("L")}"/>` + say(o[0] - 4, o[1] + 16, round(size.low), "middle") + say(r[0], r[1] + 16, `${page.parameter}=${round(size.high)}`, "middle") +
    say(b[0] - 30, b[1] + 18, "all accesses", "middle") + say(t[0] - 4, t[1] - 6, round(up.high) + " blocks", "middle");
  const text = "The size to the right, accesses by ascending distance to the back, the distance upwards; lines where the levels' capacities cut it.";
  return wrap(box, name, text, svg) + `<figcaption><b>${escape(name)}.</b> ${text}</figcaption>`;
}

/* Where the loop stands under the machine's roofs at the size that is shown: floating-point operations a
   second against those for each byte that a level moves. */
function rooflinePicture(width) {
  const machine = page.machines[shown.machine], now = point(), peak = machine.flops_per_second, flops = value("flops", now);
  const rate = flops / value("self_seconds", now), roofs = machine.roofs.filter(r => r.bytes_per_second > 0);
  if (!(peak > 0) || !roofs.length) return "";
  if (!(rate > 0)) return "<figcaption><b>Roofline.</b> The loop has no floating-point operations.</figcaption>";
  const dots = roofs.map(r => [r, flops / value("bytes:" + r.name, now)]).filter(d => isFinite(d[1]) && d[1] > 0);
  const knees = roofs.map(r => peak / r.bytes_per_second), all = dots.map(d => d[1]).concat(knees);
  const box = boxOf(width, 300), [low, high] = axisEnds(Math.min(...all) / 2, Math.max(...all) * 2);
  const x = scale(low, high, box.left, box.right, true);
  const y = scale(axisEnds(Math.min(rate, low * Math.min(...roofs.map(r => r.bytes_per_second))), 1)[0], axisEnds(1, peak * 1.5)[1], box.bottom, box.top, true);
  let svg = axes(box, x, y, "floating-point operations for each byte", "operations a second");
  roofs.forEach((r, k) => {
    const knee = peak / r.bytes_per_second;
    svg += `<path class="curve s${k}" d="M${place(x(low), y(low * r.bytes_per_second))}L${place(x(knee), y(peak))}H${box.right}"/>` +
      say(x(Math.sqrt(low * knee)) - 4, y(Math.sqrt(low * knee) * r.bytes_per_second) - 4, r.name, "end");
  });
  dots.forEach(([r, intensity]) => svg += `<circle class="dot s${roofs.indexOf(r)}" cx="${x(intensity).toFixed(1)}" cy="${y(rate).toFixed(1)}" r="5"/>`);
  const text = `At ${page.points[now].size} ${round(rate / 1e9)} billion operations a second of ${round(peak / 1e9)}; ` +
    dots.map(([r, i]) => `of what ${r.name} allows ${round(100 * rate / Math.min(peak, i * r.bytes_per_second))}%`).join(", ") + ".";
  return wrap(box, "Roofline", text, svg) + `<figcaption><b>Roofline.</b> ${escape(text)} Circles: the loop, by the bytes that each level moves.<br>${roofs.map((r, k) => key(k, false, r.name)).join("")}</figcaption>` +
    asTable(["level", "operations a byte", "bytes a second"], dots.map(([r, i]) => [r.name, round(i), round(r.bytes_per_second)]));
}

const pictures = [timePicture, missesPicture, histogramPicture, surfacePicture, rooflinePicture];

function drawPictures(except) {
  const there = byId("pictures"), width = Math.max(280, Math.min(there.clientWidth || 600, 900));
  if (shown.row < 0) return;
  pictures.forEach((draw, i) => {
    let figure = there.children[i];
    if (!figure) there.append(figure = document.createElement("figure"));
    if (draw === except) return;
    const open = figure.querySelector("details")?.open;
    figure.innerHTML = draw(width);
    if (open) figure.querySelector("details").open = true;
  });
}

/* ---- one loop ------------------------------------------------------------------------------------ */

function drawFacts() {
  const row = page.rows[shown.row], text = name => figures.text(shown.machine, name, shown.row, point());
  byId("loop").textContent = row.label;
  byId("facts").textContent = isThere(shown.row)
    ? `${text("self_seconds")}, ${text("self_share")}% of the time; ${text("total_seconds")} with what is in it. Bound by ${text("bound")}. ` +
      `${text("iterations")} ${unit()}${text("iterations") === "1" ? "" : "s"}${row.kind === "loop" ? `, entered ${text("entries")} ${text("entries") === "1" ? "time" : "times"}` : ""}.`
    : "Not executed at this size.";
}

function drawSource() {
  const row = page.rows[shown.row], text = page.sources[row.file];
  byId("source-name").textContent = row.file ? `${row.source}` : "Source not known";
  byId("source").hidden = text === undefined;
  if (text === undefined) {
    if (row.file) byId("source-name").textContent += ": the file was not there when the page was made";
    return;
  }
  byId("source").innerHTML = text.map((line, i) =>
    `<span${i + 1 >= row.line_first && i + 1 <= row.line_last ? ' class="in"' : ""}><b>${i + 1}</b>${escape(line)}</span>`).join("");
  const first = byId("source").querySelector(".in");
  if (first) byId("source").scrollTop = first.offsetTop - byId("source").offsetTop - 60;
}

/* ---- what the reader does ------------------------------------------------------------------------ */

function choose(row, focus) {
  shown.row = row;
  for (const tr of byId("table").tBodies[0].rows) {
    const chosen = Number(tr.dataset.row) === row;
    tr.setAttribute("aria-selected", chosen);
    tr.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) tr.focus();
  }
  drawFacts();
  drawPictures();
  drawSource();
}

function showSize(stop) {
  shown.stop = Number(stop);
  byId("size").value = shown.stop;
  drawHeadline();
  drawTable();
  if (shown.row < 0) return;
  drawFacts();
  drawPictures(surfacePicture); /* it is of all sizes */
}

function showMachine(machine) {
  shown.machine = Number(machine);
  if (!columns().some(([name]) => name === shown.sort)) shown.sort = "total_seconds";
  drawHeadline();
  drawTable();
  choose(shown.row, false);
}

function sortBy(name) {
  shown.descending = name === shown.sort ? !shown.descending : !isText(name);
  shown.sort = name;
  drawTable();
  byId("table").querySelector(`[data-sort="${CSS.escape(name)}"]`).focus();
}

function setClosed(row, closed) {
  if (closed) shown.closed.add(row);
  else shown.closed.delete(row);
  drawTable();
  byId("table").querySelector(`[data-row="${row}"]`)?.focus();
}

function pressed(event) {
  const tr = event.target.closest("tr[data-row]");
  if (!tr) return;
  const rows = [...byId("table").tBodies[0].rows], i = rows.indexOf(tr), row = Number(tr.dataset.row);
  const go = to => to && choose(Number(to.dataset.row), true), expanded = tr.getAttribute("aria-expanded");
  const level = tr.getAttribute("aria-level");
  if (event.key === "ArrowDown") go(rows[i + 1]);
  else if (event.key === "ArrowUp") go(rows[i - 1]);
  else if (event.key === "Home") go(rows[0]);
  else if (event.key === "End") go(rows[rows.length - 1]);
  else if (event.key === "Enter" || event.key === " ") go(tr);
  else if (event.key === "ArrowLeft" && expanded === "true") setClosed(row, true);
  else if (event.key === "ArrowLeft") go(rows.slice(0, i).reverse().find(r => r.getAttribute("aria-level") < level));
  else if (event.key === "ArrowRight" && expanded === "false") setClosed(row, false);
  else if (event.key === "ArrowRight" && expanded === "true") go(rows[i + 1]);
  else return;
  event.preventDefault();
}

function clicked(event) {
  const head = event.target.closest("[data-sort]"), tr = event.target.closest("tr[data-row]");
  if (head) return sortBy(head.dataset.sort);
  if (!tr) return;
  const row = Number(tr.dataset.row);
  if (event.target.classList.contains("toggle") && tr.hasAttribute("aria-expanded")) setClosed(row, tr.getAttribute("aria-expanded") === "true");
  else choose(row, false);
}

function listen() {
  byId("table").addEventListener("click", clicked);
  byId("table").addEventListener("keydown", pressed);
  byId("size").addEventListener("input", event => showSize(event.target.value));
  byId("machine").addEventListener("change", event => showMachine(event.target.value));
  byId("tree").addEventListener("change", drawTable);
  byId("filter").addEventListener("input", drawTable);
  byId("given").addEventListener("click", event => event.target.dataset.stop && showSize(event.target.dataset.stop));
  let width = byId("pictures").clientWidth;
  new ResizeObserver(() => {
    if (byId("pictures").clientWidth === width) return;
    width = byId("pictures").clientWidth;
    requestAnimationFrame(() => drawPictures());
  }).observe(byId("pictures"));
}

/* ---- the beginning ------------------------------------------------------------------------------- */

/* The size of -P, else the largest that was measured, else the first. */
function firstStop() {
  const given = stops.findIndex(s => s.given), measured = stops.findLastIndex(s => page.points[s.point].measured);
  return given >= 0 ? given : Math.max(measured, 0);
}

async function begin() {
  const data = await unpack();
  page = data.page;
  figures = new Figures(page, data.bytes);
  distances = new Distances(page, data.bytes.subarray(figures.end));
  findStops();
  byId("program").textContent = page.program;
  byId("machine").innerHTML = page.machines.map((m, i) => `<option value="${i}">${escape(m.title)}</option>`).join("");
  byId("warnings").innerHTML = page.warnings.map(w => `<li>${escape(w.text)}</li>`).join("");
  byId("size").max = stops.length - 1;
  byId("given").innerHTML = stops.map((s, i) => s.given ? `<button data-stop="${i}">${escape(page.points[s.point].size)}</button>` : "").join("");
  shown.stop = firstStop();
  listen();
  showSize(shown.stop);
  const own = row => figures.value(shown.machine, "self_seconds", row, point());
  const hottest = page.rows.map((_, i) => i).filter(isThere).sort((a, b) => own(b) - own(a))[0];
  if (hottest !== undefined) choose(hottest, false);
  document.documentElement.dataset.ready = Math.round(performance.now()); /* ms since it was opened */
}

begin().catch(error => {
  byId("headline").textContent = `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`;
  throw error;
});
