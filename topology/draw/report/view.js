// How the wiring is drawn, turned and pointed at, and the controls above it.

class View {
  constructor(canvas) {
    Object.assign(this, { canvas, context: canvas.getContext("2d"), hovered: null, pointers: new Map() });
    // fit clears the canvas: painted in the next frame only, it would be blank in this one.
    new ResizeObserver(() => { this.fit(); this.paint(); }).observe(canvas);
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => this.release(e));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); this.zoomBy(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.offsetX, e.offsetY); }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  // set shows a wiring: what is flat from the front, else from above at an angle.
  set(wiring, colouring) {
    Object.assign(this, { wiring, colouring });
    const nodes = wiring.vertices + wiring.groups.length;
    Object.assign(this, { x: new Float32Array(nodes), y: new Float32Array(nodes), near: new Float32Array(nodes) });
    this.reset();
  }

  reset() {
    Object.assign(this, this.wiring.graph.flat ? { yaw: 0, pitch: 0 } : { yaw: -0.5, pitch: 0.45 });
    this.wiring.update();
    this.fit();
    this.change();
  }

  // fit zooms and shifts so that all that is shown fits.
  fit() {
    const box = this.canvas.getBoundingClientRect(), dots = devicePixelRatio || 1;
    Object.assign(this, { width: box.width, height: box.height });
    this.canvas.width = Math.round(box.width * dots);
    this.canvas.height = Math.round(box.height * dots);
    this.context.setTransform(dots, 0, 0, dots, 0, 0);
    if (!this.wiring) return;
    Object.assign(this, { zoom: 1, panX: 0, panY: 0 });
    this.project();
    const [left, right, top, bottom] = this.bounds(this.wiring.nodes);
    const room = this.width - 180; // with names on the right
    const most = this.wiring.nodes.length > 2 ? this.height : this.height / 3;
    this.zoom = Math.max(1, Math.min(room / Math.max(right - left, 0.01), (this.height - 90) / Math.max(bottom - top, 0.01), most));
    this.panX = (this.width / 2 - (left + right) / 2) * this.zoom - 40;
    this.panY = (this.height / 2 - (top + bottom) / 2) * this.zoom;
  }

  // bounds are the left, right, top and bottom of nodes on the screen.
  bounds(nodes) {
    return nodes.reduce(([left, right, top, bottom], v) => [
      Math.min(left, this.x[v]), Math.max(right, this.x[v]), Math.min(top, this.y[v]), Math.max(bottom, this.y[v]),
    ], [Infinity, -Infinity, Infinity, -Infinity]);
  }

  // change is called when other nodes or links are to be seen, or in other colours.
  change() {
    const w = this.wiring;
    w.update();
    this.colouring.prepare(w);
    for (const l of w.shown) l.colour = this.colouring.of(w, l);
    this.hovered = null;
    this.colours = { host: css("host"), switch: css("switch"), group: css("group"), ink: css("ink"), soft: css("soft"), bad: css("bad"), stage: css("stage"), edge: css("edge"), panel: css("panel") };
    drawLegend(this.colouring.legend());
    const hidden = w.graph.leftOut ? ` (${counted(w.graph.leftOut, "arc")} left out: the least likely, then the slowest)` : "";
    by("counted").textContent = `${counted(w.nodes.length, "node")}, ${counted(w.shown.length, "link")}${hidden}`;
    Object.assign(this.canvas.dataset, { nodes: w.nodes.length, links: w.shown.length });
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  // project turns all nodes, and puts them on the screen in perspective: near is how large they look.
  project() {
    const { at } = this.wiring, [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const size = this.zoom;
    for (let i = 0; i < this.x.length; i++) {
      const a = at[3 * i] * cy - at[3 * i + 1] * sy, b = at[3 * i] * sy + at[3 * i + 1] * cy, h = at[3 * i + 2];
      const up = h * cp + b * sp, towards = h * sp - b * cp, near = 4 / (4 - towards);
      this.x[i] = this.width / 2 + this.panX + a * near * size;
      this.y[i] = this.height / 2 + this.panY - up * near * size;
      this.near[i] = near;
    }
  }

  paint() {
    if (!this.wiring || !this.width) return;
    this.project();
    const { context: c, wiring: w } = this;
    c.clearRect(0, 0, this.width, this.height);
    if (w.graph.flat) this.paintBoxes(c, w);
    this.paintLinks(c, w);
    this.paintNodes(c, w);
    this.paintLabels(c, w);
    if (this.hovered) this.paintHovered(c);
    this.canvas.dataset.frames = Number(this.canvas.dataset.frames || 0) + 1;
  }

  // paintBoxes draws hosts and sockets around their cores, with their names, the outer ones first.
  paintBoxes(c, w) {
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "bottom";
    for (const [k, members] of w.boxes()) {
      const [left, right, top, bottom] = this.bounds(members);
      const pad = 7 + 5 * w.groups[k].deep;
      c.fillStyle = this.colours.panel;
      c.strokeStyle = this.colours.edge;
      c.lineWidth = 1;
      c.beginPath();
      c.roundRect(left - pad, top - pad, right - left + 2 * pad, bottom - top + 2 * pad, 5);
      c.fill();
      c.stroke();
      if (c.measureText(w.groups[k].name).width < right - left + 2 * pad) {
        c.fillStyle = this.colours.soft;
        c.fillText(w.groups[k].name, left - pad + 2, top - pad - 1);
      }
    }
  }

  // paintLinks draws far links first and paler, all of one colour at once.
  paintLinks(c, w) {
    const layers = [new Map(), new Map(), new Map()];
    for (const l of w.shown) {
      const near = (this.near[l.u] + this.near[l.v]) / 2, layer = layers[near < 0.94 ? 0 : near < 1.08 ? 1 : 2];
      if (!layer.has(l.colour)) layer.set(l.colour, []);
      layer.get(l.colour).push(l);
    }
    const many = w.shown.length, thin = many > 3000 ? 0.7 : many > 400 ? 1 : many > 60 ? 1.5 : 2.2;
    // Where the shade says something it is not made paler.
    const shades = this.colouring === colourings.latency || this.colouring === colourings.bandwidth ? [0.55, 0.75, 0.95] : [0.9, 0.95, 1];
    layers.forEach((layer, depth) => {
      c.globalAlpha = shades[depth];
      for (const [colour, links] of layer) {
        if (this.colouring.unused === colour) { // white is seen on white by its edge
          c.strokeStyle = this.colours.edge;
          c.lineWidth = thin + 2;
          this.strokeAll(c, links);
        }
        c.strokeStyle = c.fillStyle = colour;
        c.lineWidth = thin;
        this.strokeAll(c, links);
        for (const l of links) if (l.there[0] !== l.there[1]) this.paintArrow(c, l);
      }
    });
    c.globalAlpha = 1;
    const bad = w.shown.filter((l) => this.isMarked(l));
    c.strokeStyle = this.colours.bad;
    c.lineWidth = thin + 3;
    this.strokeAll(c, bad);
  }

  strokeAll(c, links) {
    c.beginPath();
    for (const l of links) {
      c.moveTo(this.x[l.u], this.y[l.u]);
      c.lineTo(this.x[l.v], this.y[l.v]);
    }
    c.stroke();
  }

  // paintArrow heads a channel of one direction.
  paintArrow(c, l) {
    const [from, to] = l.there[0] ? [l.u, l.v] : [l.v, l.u];
    const dx = this.x[to] - this.x[from], dy = this.y[to] - this.y[from], long = Math.hypot(dx, dy);
    if (long < 8) return;
    const size = Math.min(10, long / 3), ux = dx / long, uy = dy / long;
    const tipX = this.x[from] + 0.62 * dx + ux * size / 2, tipY = this.y[from] + 0.62 * dy + uy * size / 2;
    c.beginPath();
    c.moveTo(tipX, tipY);
    c.lineTo(tipX - ux * size - uy * size * 0.45, tipY - uy * size + ux * size * 0.45);
    c.lineTo(tipX - ux * size + uy * size * 0.45, tipY - uy * size - ux * size * 0.45);
    c.fill();
  }

  // radius of a node in pixels.
  radius(node) {
    const w = this.wiring, few = w.nodes.length < 100 ? 1.5 : w.nodes.length < 300 ? 1 : w.nodes.length < 1500 ? 0.8 : 0.6;
    const size = Math.max(0.5, Math.min(2.2, this.near[node] * Math.sqrt(this.zoom / 300)));
    if (w.isGroup(node)) return (3 + Math.sqrt(Math.min(200, w.groups[node - w.vertices].hosts))) * few * size;
    return (w.isHost(node) ? 2.6 : 3.4) * few * size;
  }

  paintNodes(c, w) {
    const { colours } = this;
    const far = w.nodes.slice().sort((a, b) => this.near[a] - this.near[b]);
    for (const v of far) {
      const x = this.x[v], y = this.y[v], r = this.radius(v);
      if (x < -r || y < -r || x > this.width + r || y > this.height + r) continue;
      if (w.isGroup(v)) {
        c.fillStyle = colours.group;
        c.globalAlpha = 0.85;
        c.beginPath(); c.arc(x, y, r, 0, 7); c.fill();
        c.globalAlpha = 1;
      } else if (w.isHost(v)) {
        c.fillStyle = colours.host;
        if (r < 1.8) c.fillRect(x - r, y - r, 2 * r, 2 * r);
        else { c.beginPath(); c.arc(x, y, r, 0, 7); c.fill(); }
      } else if (!w.isBoxed(v)) {
        c.fillStyle = colours.switch;
        c.fillRect(x - r, y - r, 2 * r, 2 * r);
      }
      if (this.marked.has(v)) {
        c.strokeStyle = colours.bad;
        c.lineWidth = 2;
        c.beginPath(); c.arc(x, y, r + 4, 0, 7); c.stroke();
      }
    }
  }

  // paintLabels names marked nodes, groups, switches, then hosts, near ones first, where there is room.
  paintLabels(c, w) {
    const rank = (v) => (this.marked.has(v) ? 3 : w.isGroup(v) ? 2 : w.isHost(v) ? 0 : 1) * 10 + this.near[v];
    const order = w.nodes.slice().sort((a, b) => rank(b) - rank(a));
    const taken = new Set(), most = this.pointers.size ? 60 : 160; // fewer while it is turned
    let drawn = 0;
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.lineWidth = 3;
    c.strokeStyle = this.colours.stage;
    c.lineJoin = "round";
    for (const v of order) {
      if (drawn >= most) break;
      if (w.isBoxed(v)) continue;
      const text = w.label(v), below = w.graph.flat && w.isHost(v); // there hosts stand side by side
      const long = 6.3 * text.length, middle = Math.max(2, Math.min(this.width - long - 2, this.x[v] - long / 2));
      const x = below ? middle : this.x[v] + this.radius(v) + 4, y = this.y[v] + (below ? this.radius(v) + 9 : 0);
      if (this.x[v] < 0 || y < 8 || this.x[v] > this.width || y > this.height - 8) continue;
      // Cells of 12 x 14 pixels, of which each belongs to one label.
      const cells = [], row = Math.floor(y / 14);
      for (let column = Math.floor(x / 12); column <= Math.floor((x + long) / 12); column++) cells.push(row * 4096 + column, (row + 1) * 4096 + column);
      if (cells.some((cell) => taken.has(cell))) continue;
      cells.forEach((cell) => taken.add(cell));
      c.fillStyle = this.marked.has(v) ? this.colours.bad : w.isHost(v) ? this.colours.soft : this.colours.ink;
      c.strokeText(text, x, y);
      c.fillText(text, x, y);
      drawn++;
    }
    this.canvas.dataset.labels = drawn;
  }

  paintHovered(c) {
    c.strokeStyle = this.colours.ink;
    c.lineWidth = 3;
    c.beginPath();
    const { node, link } = this.hovered;
    if (link) { c.moveTo(this.x[link.u], this.y[link.u]); c.lineTo(this.x[link.v], this.y[link.v]); }
    else c.arc(this.x[node], this.y[node], this.radius(node) + 3, 0, 7);
    c.stroke();
  }

  // pick is the node or link at a place of the canvas, or null.
  pick(x, y) {
    const w = this.wiring;
    let best = null, least = 1;
    for (const v of w.nodes) {
      const off = Math.hypot(this.x[v] - x, this.y[v] - y) / (this.radius(v) + 5);
      if (off < least) { least = off; best = { node: v }; }
    }
    if (best) return best;
    least = 7;
    for (const l of w.shown) {
      const ax = this.x[l.u], ay = this.y[l.u], dx = this.x[l.v] - ax, dy = this.y[l.v] - ay;
      const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
      const off = Math.hypot(ax + along * dx - x, ay + along * dy - y);
      if (off < least) { least = off; best = { link: l }; }
    }
    return best;
  }

  point(event) {
    const found = event && this.pick(event.offsetX, event.offsetY);
    if (found) tip.show(event, ...(found.link ? describeLink(this.wiring, found.link) : describeNode(this.wiring, found.node)));
    else tip.hide();
    if (found || this.hovered) { this.hovered = found; this.draw(); }
  }

  press(e) {
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, e);
    if (this.pointers.size === 1) this.travelled = 0;
  }

  // move turns, shifts (what is flat, with shift or another button), or with two fingers zooms; without a button it points.
  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) { if (e.pointerType === "mouse") this.point(e); return; }
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    this.travelled += Math.abs(dx) + Math.abs(dy);
    if (this.pointers.size > 1) {
      const other = [...this.pointers.values()].find((p) => p.pointerId !== e.pointerId);
      const apart = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
      this.zoomBy(apart(e) / (apart(before) || 1), (e.offsetX + other.offsetX) / 2, (e.offsetY + other.offsetY) / 2);
      this.shift(dx / 2, dy / 2);
    } else if (e.shiftKey || e.buttons > 1 || this.wiring.graph.flat) this.shift(dx, dy);
    else this.turn(dx * 0.008, dy * 0.008);
    this.pointers.set(e.pointerId, e);
    tip.hide();
  }

  release(e) {
    const was = this.pointers.delete(e.pointerId);
    this.draw();
    if (!was || this.travelled > 5 || e.type === "pointercancel") return;
    const found = this.pick(e.offsetX, e.offsetY), w = this.wiring;
    if (found && found.node !== undefined) {
      const v = found.node;
      if (w.isGroup(v)) w.open[v - w.vertices] = true;
      else if (!w.isHost(v) && w.inside[v] > 0) w.open[w.inside[v]] = false;
      this.change();
    }
    this.point(e);
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.57, Math.min(1.57, this.pitch + pitch));
    this.draw();
  }
  shift(x, y) { this.panX += x; this.panY += y; this.draw(); }
  zoomBy(factor, x, y) {
    const next = Math.max(20, Math.min(2e5, this.zoom * factor)), real = next / this.zoom;
    this.panX = (x - this.width / 2) * (1 - real) + this.panX * real;
    this.panY = (y - this.height / 2) * (1 - real) + this.panY * real;
    this.zoom = next;
    this.draw();
  }
  key(e) {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[e.key];
    const factor = { "+": 1.2, "=": 1.2, "-": 1 / 1.2 }[e.key];
    if (step) this.turn(...step);
    if (factor) this.zoomBy(factor, this.width / 2, this.height / 2);
    if (step || factor) e.preventDefault();
  }

  // mark rings vertices, paints links, pairs of vertices, in the colour of what is bad, and opens the groups that hide them.
  mark(vertices, links, openThem) {
    this.marked = new Set(vertices);
    this.markedLinks = new Set(links.map(([u, v]) => `${Math.min(u, v)} ${Math.max(u, v)}`));
    if (openThem) [...vertices, ...links.flat()].forEach((v) => this.wiring.reveal(v));
    this.change();
  }
  isMarked(link) { return link.of.some((l) => this.markedLinks.has(`${l.u} ${l.v}`)); }
}
