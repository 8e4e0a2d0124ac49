// The heat map and the tables below the wiring.

// drawHeat fills a canvas of one dot per cell, which the style sheet enlarges.
function drawHeat(heat) {
  const box = by("heat"), canvas = box.querySelector("canvas"), n = heat.side;
  box.hidden = false;
  box.querySelector("figcaption span").textContent = heat.note;
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
  const names = (k) => someHosts(k * heat.block, heat.block, 1);
  canvas.onmousemove = (e) => {
    const { width, height } = canvas.getBoundingClientRect();
    const row = Math.min(n - 1, Math.floor(e.offsetY / height * n)), column = Math.min(n - 1, Math.floor(e.offsetX / width * n));
    const v = value(row * n + column);
    tip.show(e, `${names(row)} → ${names(column)}`, [v === null ? row === column ? "the same" : "not measured" : (heat.block > 1 ? "median " : "") + seconds(v)]);
  };
  canvas.onmouseleave = () => tip.hide();
  const scale = box.querySelector(".scale");
  if (heat.low === heat.high) scale.replaceChildren(`all ${seconds(heat.low)}`);
  else scale.replaceChildren(seconds(heat.low), swatch(...viridis), `${seconds(heat.cut)}${heat.high > heat.cut * 1.001 ? " and more, up to " + seconds(heat.high) : ""}`);
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
      if (x == null || y == null) return (x == null) - (y == null);
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
  const { names } = report.found, tables = [];
  if (report.groups.length > 1) tables.push(new Table(by("groupTable"), "group", [
    ["group", (g) => g.name], ["level", (g) => report.levels[g.level]], [report.noun + "s", (g) => g.hosts], ["which", (g) => someHosts(g.first, g.hosts, 4)],
    ["latency", (g) => g.latency, seconds], ["confidence", (g) => g.support, (x) => x?.toFixed(2) ?? "-"],
  ], report.groups.slice(1), 5, false));
  const of = (link, list) => found.figure({ of: [link] }, list);
  if (found.links.length) tables.push(new Table(by("linkTable"), "link", [
    ["from", (l) => names[l.u]], ["to", (l) => names[l.v]], ["latency", (l) => of(l, (arc) => found.latency(arc)), seconds],
    ["bandwidth", (l) => of(l, (arc) => found.bandwidth(arc)), rate],
    ["directions", (l) => l.arcs[0] && l.arcs[1] ? "both" : "one"], ["probability", (l) => of(l, (arc) => arc && found.likely(arc)), (x) => x.toFixed(2)],
  ], found.links, 2, true));
  if (!tables.length) by("tables").hidden = true;
  by("filter").addEventListener("input", () => tables.forEach((t) => { t.text = by("filter").value.trim().toLowerCase(); t.show(); }));
}

start();
