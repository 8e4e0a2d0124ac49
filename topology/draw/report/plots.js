// The figures below the wiring, and the tables.

// Okabe and Ito 2008, as the figures of this package; the last is for what no group joins.
const levelColours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#8a8f98"];
const levelColour = (level) => level >= report.levels.length - 1 ? levelColours[5] : levelColours[level % 5];

// svg makes an element of a drawing; said is what is said when it is pointed at.
function svg(name, attributes, text, said) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (said !== undefined) {
    element.addEventListener("mousemove", (e) => tip.show(e, said, []));
    element.addEventListener("mouseleave", () => tip.hide());
  }
  return element;
}

// logTicks are round numbers, the fewer of each power of ten the more powers there are.
function logTicks(low, high) {
  const wide = Math.log10(high / low), steps = wide > 2.5 ? [1] : wide > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const s of steps) { const x = s * 10 ** e; if (x >= low * 0.999 && x <= high * 1.001) ticks.push(x); }
  return ticks.length > 9 ? ticks.filter((_, i) => i % Math.ceil(ticks.length / 8) === 0) : ticks;
}

// A Plot is a drawing with axes; x and y are turned into its coordinates.
class Plot {
  constructor(place, height, left) {
    Object.assign(this, { width: 560, height, left, right: 548, top: 10, bottom: height - 24 });
    this.drawing = svg("svg", { viewBox: `0 0 560 ${height}`, role: "img" });
    place.replaceChildren(this.drawing);
  }
  logX(low, high) { this.x = (v) => this.left + (this.right - this.left) * (high > low ? Math.log(v / low) / Math.log(high / low) : 0.5); }
  logY(low, high) { this.y = (v) => this.bottom - (this.bottom - this.top) * (high > low ? Math.log(v / low) / Math.log(high / low) : 0.5); }
  add(...of) { return this.drawing.appendChild(svg(...of)); }
  ticksX(values, text) {
    this.add("path", { class: "axis", d: `M${this.left} ${this.bottom}H${this.right}` });
    for (const v of values) this.add("text", { x: this.x(v), y: this.bottom + 16, "text-anchor": "middle" }, text(v));
  }
  ticksY(values, text) {
    for (const v of values) {
      this.add("path", { class: "axis", d: `M${this.left} ${this.y(v)}H${this.right}` });
      this.add("text", { x: this.left - 6, y: this.y(v) + 4, "text-anchor": "end" }, text(v));
    }
  }
  key(entries) {
    let x = this.left + 4;
    for (const [colour, text] of entries) {
      this.add("rect", { x, y: 0, width: 10, height: 10, rx: 2, fill: colour });
      this.add("text", { x: x + 14, y: 9 }, text);
      x += 28 + 6.2 * text.length;
    }
  }
}

function figure(id, note) {
  const box = by(id);
  box.hidden = false;
  box.querySelector("figcaption span").textContent = note;
  return box;
}

function drawFigures() {
  if (report.heat) drawHeat(report.heat);
  if (report.times) drawTimes(report.times);
  if (report.groups.length > 1 && report.groups.some((g) => g.latency > 0)) drawTree();
  if (report.curves.length) drawRates(report.curves);
}

// drawHeat fills a canvas of one dot per cell, which the style sheet enlarges.
function drawHeat(heat) {
  const cut = heat.share < 1 ? `Colours are cut at ${seconds(heat.cut)}: ${Number((100 * heat.share).toPrecision(3))} % of the pairs are below.` : `Nothing is cut off: no pair is above ${seconds(heat.high)}.`;
  const blocks = heat.block > 1 ? `Cells are means of ${heat.block} × ${heat.block}. ` : "";
  const box = figure("heat", `${report.source}, ${report.noun}s ordered by the groups. ${blocks}${cut}`);
  const canvas = box.querySelector("canvas"), n = heat.side;
  const raw = atob(heat.cells), step = (i) => raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1);
  const value = (i) => step(i) ? heat.low * (heat.high / heat.low) ** ((step(i) - 1) / 65534) : null;
  canvas.width = canvas.height = n;
  const c = canvas.getContext("2d"), image = c.createImageData(n, n), none = channels(css("stage"));
  const range = Math.log(heat.cut / heat.low) || 1, table = Array.from({ length: 256 }, (_, i) => channels(ramp(viridis, i / 255)));
  for (let i = 0; i < n * n; i++) {
    const v = value(i), colour = v === null ? none : table[Math.min(255, Math.round(255 * Math.log(v / heat.low) / range))];
    image.data.set([...colour, 255], 4 * i);
  }
  c.putImageData(image, 0, 0);
  const names = (k) => {
    const hosts = report.order.slice(k * heat.block, (k + 1) * heat.block).map((v) => report.found.names[v]);
    return hosts.length > 1 ? `${hosts[0]} … ${hosts[hosts.length - 1]}` : hosts[0];
  };
  canvas.onmousemove = (e) => {
    const { width, height } = canvas.getBoundingClientRect();
    const row = Math.min(n - 1, Math.floor(e.offsetY / height * n)), column = Math.min(n - 1, Math.floor(e.offsetX / width * n));
    const v = value(row * n + column);
    tip.show(e, `${names(row)} → ${names(column)}`, [v === null ? row === column ? "the same" : "not measured" : (heat.block > 1 ? "mean " : "") + seconds(v)]);
  };
  canvas.onmouseleave = () => tip.hide();
  const scale = box.querySelector(".scale"), bar = document.createElement("canvas");
  paintRamp(bar, viridis);
  if (heat.low === heat.high) scale.replaceChildren(`all ${seconds(heat.low)}`);
  else scale.replaceChildren(seconds(heat.low), bar, `${seconds(heat.cut)}${heat.high > heat.cut * 1.001 ? " and more, up to " + seconds(heat.high) : ""}`);
}

// drawTimes stacks the bins of the levels: what is far should be to the right of what is near.
function drawTimes({ edges, counts }) {
  const total = counts.flat().reduce((a, b) => a + b, 0), bins = edges.length - 1;
  const box = figure("times", `${counted(total, "pair")}, one direction each, by the level that joins them.`);
  const plot = new Plot(box.querySelector(".plot"), 250, 14), most = Math.max(...edges.slice(1).map((_, b) => counts.reduce((sum, level) => sum + level[b], 0)));
  const share = (level) => Number((100 * level.reduce((a, b) => a + b, 0) / total).toPrecision(2));
  plot.top = 26;
  plot.logX(edges[0], edges[bins]);
  plot.ticksX(edges[bins] > edges[0] ? logTicks(edges[0], edges[bins]) : [edges[0]], seconds);
  for (let b = 0; b < bins; b++) {
    let y = plot.bottom;
    counts.forEach((level, l) => {
      if (!level[b]) return;
      const high = Math.max(3, level[b] / most * (plot.bottom - plot.top)), x = bins > 1 ? plot.x(edges[b]) : plot.x(edges[0]) - 20;
      y -= high;
      plot.add("rect", { class: "bar", x, y, width: bins > 1 ? plot.x(edges[b + 1]) - x - 0.5 : 40, height: high, fill: levelColour(l) }, undefined,
        `${report.levels[l]}: ${counted(level[b], "pair")} from ${seconds(edges[b])} to ${seconds(edges[b + 1])}`);
    });
  }
  plot.key(counts.flatMap((level, l) => level.some((x) => x) ? [[levelColour(l), `${report.levels[l]}, ${share(level)} %`]] : []));
}

// drawTree is the dendrogram: a group is a line at its latency over its children. Hosts hang
// directly below a group as a block.
function drawTree() {
  const groups = report.groups, n = report.order.length, known = groups.map((g) => g.latency).filter((x) => x > 0);
  const low = Math.min(...known) / 1.6, high = Math.max(...known) * 1.1;
  const box = figure("tree", `Height is the typical latency between the parts of a group.${groups.some((g) => g.weak) ? " Weak groups are dashed." : ""}`);
  const named = n <= 40, plot = new Plot(box.querySelector(".plot"), named ? 350 : 300, 58);
  plot.bottom = 292;
  plot.logY(low, high);
  plot.ticksY(logTicks(low, high), seconds);
  const across = (i) => plot.left + 6 + (plot.right - plot.left - 12) * (n > 1 ? i / (n - 1) : 0.5);
  if (named) report.order.forEach((v, i) => plot.add("text", { transform: `translate(${across(i) + 4} ${plot.bottom + 5}) rotate(90)` }, report.found.names[v].slice(0, 9)));
  const children = groups.map(() => []);
  groups.forEach((g, k) => { if (g.parent >= 0) children[g.parent].push(k); });
  const height = [], middle = [];
  for (let k = groups.length - 1; k >= 0; k--) { // children before parents
    const g = groups[k], ends = children[k].map((c) => [middle[c], height[c]]);
    height[k] = g.latency > 0 ? plot.y(g.latency) : Math.min(plot.bottom - 12, ...ends.map(([, y]) => y - 8));
    const inside = new Set(children[k].flatMap((c) => Array.from({ length: groups[c].hosts }, (_, i) => groups[c].first + i)));
    const alone = Array.from({ length: g.hosts }, (_, i) => g.first + i).filter((i) => !inside.has(i));
    const name = `${g.name}: ${counted(g.hosts, report.noun)}, ${seconds(g.latency)}${g.support === null || k === 0 ? "" : ", confidence " + g.support.toFixed(2)}${g.weak ? ", uncertain" : ""}`;
    if (alone.length > 1 && (across(1) - across(0)) < 2) { // too close to be told apart
      plot.add("path", { class: "bundle", d: `M${across(alone[0]) - 0.5} ${plot.bottom}V${height[k]}H${across(alone[alone.length - 1]) + 0.5}V${plot.bottom}Z` }, undefined, name);
      ends.push([across(alone[0]), height[k]], [across(alone[alone.length - 1]), height[k]]);
    } else for (const i of alone) ends.push([across(i), plot.bottom]);
    const xs = ends.map(([x]) => x), left = Math.min(...xs), right = Math.max(...xs);
    middle[k] = (left + right) / 2;
    const drops = ends.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}V${height[k].toFixed(1)}`).join("");
    const dense = (right - left) / Math.max(1, ends.length - 1); // pixels from one to the next
    plot.add("path", { class: g.weak ? "branch weak" : "branch", "stroke-width": Math.min(1.2, Math.max(0.15, 0.3 * dense)), d: `${drops}M${left.toFixed(1)} ${height[k].toFixed(1)}H${right.toFixed(1)}` }, undefined, name);
  }
}

function drawRates(curves) {
  const sizes = curves.flatMap((c) => c.bytes), rates = curves.flatMap((c) => c.rates).filter((x) => x > 0);
  if (!rates.length) return;
  const box = figure("rates", "between two that are joined at each level.");
  const plot = new Plot(box.querySelector(".plot"), 300, 66);
  plot.top = 26;
  const low = Math.min(...rates), high = Math.max(...rates) * 1.1;
  plot.logX(Math.min(...sizes), Math.max(...sizes));
  plot.logY(low, high);
  plot.ticksY(logTicks(low, high), rate);
  const all = [...new Set(sizes)].sort((a, b) => a - b);
  plot.ticksX(all.filter((_, i) => i % Math.ceil(all.length / 7) === 0), bytes);
  curves.forEach((c, i) => {
    const points = c.bytes.flatMap((x, k) => c.rates[k] > 0 ? [[plot.x(x), plot.y(c.rates[k]), x, c.rates[k]]] : []);
    const colour = i === curves.length - 1 && i > 0 ? levelColours[5] : levelColours[i % 5];
    plot.add("polyline", { points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 });
    for (const [x, y, size, r] of points) plot.add("circle", { class: "bar", cx: x, cy: y, r: 3.5, fill: colour }, undefined, `${c.name}: ${rate(r)} with ${bytes(size)}`);
  });
  plot.key(curves.map((c, i) => [i === curves.length - 1 && i > 0 ? levelColours[5] : levelColours[i % 5], c.name]));
}

// A Table sorts by any column and shows its first rows. Columns are [heading, value of a row, text of a value].
class Table {
  constructor(place, noun, columns, rows, sortBy, falling) {
    Object.assign(this, { place, noun, columns, rows, sortBy, falling, most: 25, text: "" });
    this.show();
  }
  show() {
    const of = this.columns[this.sortBy][1], order = (a, b) => {
      const [x, y] = [of(a), of(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      const c = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return this.falling ? -c : c;
    };
    const rows = this.rows.filter((row) => !this.text || this.columns.some(([, value]) => String(value(row)).toLowerCase().includes(this.text))).sort(order);
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    this.columns.forEach(([heading], i) => {
      const cell = document.createElement("th");
      cell.textContent = heading;
      if (i === this.sortBy) cell.setAttribute("aria-sort", this.falling ? "descending" : "ascending");
      cell.addEventListener("click", () => { this.falling = this.sortBy === i && !this.falling; this.sortBy = i; this.show(); });
      head.append(cell);
    });
    for (const row of rows.slice(0, this.most)) {
      const line = body.insertRow();
      if (row.weak) line.className = "weak";
      for (const [, value, text] of this.columns) line.insertCell().textContent = text ? text(value(row)) : value(row);
    }
    const title = document.createElement("h3");
    title.textContent = counted(rows.length, this.noun);
    this.place.replaceChildren(title, table);
    if (rows.length > this.most) {
      const more = Object.assign(document.createElement("button"), { type: "button", textContent: `show ${Math.min(rows.length, this.most * 10)} rows` });
      more.addEventListener("click", () => { this.most *= 10; this.show(); });
      this.place.append(more);
    }
  }
}

function drawTables() {
  const names = report.found.names, members = (g) => {
    const hosts = report.order.slice(g.first, g.first + g.hosts).map((v) => names[v]);
    return hosts.length > 4 ? `${hosts[0]}, ${hosts[1]} … ${hosts[hosts.length - 1]}` : hosts.join(", ");
  };
  const tables = [];
  if (report.groups.length > 1) tables.push(new Table(by("groupTable"), "group", [
    ["group", (g) => g.name], ["level", (g) => report.levels[g.level]], [report.noun + "s", (g) => g.hosts], ["which", members],
    ["latency", (g) => g.latency, seconds], ["confidence", (g) => g.support, (x) => x === null ? "-" : x.toFixed(2)],
  ], report.groups.slice(1), 5, false));
  const of = (link, list) => found.figure({ of: [link] }, list);
  if (found.links.length) tables.push(new Table(by("linkTable"), "link", [
    ["from", (l) => names[l.u]], ["to", (l) => names[l.v]], ["latency", (l) => of(l, (arc) => found.latency(arc)), seconds],
    ["bandwidth", (l) => of(l, (arc) => found.bandwidth(arc)), rate],
    ["directions", (l) => l.arcs[0] >= 0 && l.arcs[1] >= 0 ? "both" : "one"], ["probability", (l) => of(l, (arc) => arc < 0 ? null : found.likely(arc)), (x) => x.toFixed(2)],
  ], found.links, 2, true));
  if (!tables.length) by("tables").hidden = true;
  by("filter").addEventListener("input", () => tables.forEach((t) => { t.text = by("filter").value.trim().toLowerCase(); t.show(); }));
}

start();
