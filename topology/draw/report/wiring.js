"use strict";
// What the page shows: numbers, colours, and of the wiring what is open and likely enough.
// Text from outside, such as names, only ever becomes textContent.

const report = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);

// Numbers as people read them: four digits and a unit.
function scaled(x, units) {
  if (x == null) return "not known";
  x = Number(x.toPrecision(4));
  const [unit, size] = units.find(([, size]) => Math.abs(x) >= size) || units[units.length - 1];
  return `${Number((x / size).toPrecision(4))} ${unit}`;
}
const seconds = (x) => x === 0 ? "0 s" : scaled(x, [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9]]);
const rate = (x) => scaled(x, [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3], ["B/s", 1]]);
const bytes = (x) => scaled(x, [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]]);
const counted = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : thing.endsWith("ch") ? "es" : "s"}`;

// someHosts names hosts that follow each other in the order, of more than most the first ones and the last.
function someHosts(first, count, most) {
  const names = report.order.slice(first, first + count).map((v) => report.found.names[v]);
  return names.length > most ? `${names.slice(0, Math.ceil(most / 2)).join(", ")} … ${names.at(-1)}` : names.join(", ");
}

// Colours: those of the style sheet, and two ramps that do not need red told from green.
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const viridis = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];
const pace = ["#0072b2", "#5b9bb5", "#b3a06a", "#e08a1e", "#d55e00"]; // fast to slow, seen on light and dark
function channels(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }
function mix(a, b, share) {
  const [x, y] = [channels(a), channels(b)];
  return "#" + x.map((c, i) => Math.round(c + (y[i] - c) * share).toString(16).padStart(2, "0")).join("");
}
function ramp(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1), i = Math.min(Math.floor(at), stops.length - 2);
  return mix(stops[i], stops[i + 1], at - i);
}

// The box beside the pointer: a heading and lines.
const tip = {
  show(event, heading, lines) {
    const box = by("tip"), title = document.createElement("b");
    title.textContent = heading;
    box.replaceChildren(title, ...lines.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
    box.style.top = Math.max(4, event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18) + "px";
  },
  hide() { by("tip").hidden = true; },
};

// A Wiring is a graph with what of it is shown now. Nodes are its vertices, and after them its
// groups: a closed group stands for all that is inside it.
class Wiring {
  constructor(graph, groups, inside, sizes) {
    Object.assign(this, { graph, groups, inside, sizes, vertices: graph.names.length });
    this.open = groups.map(() => true);
    // How many boxes are inside each other below a group.
    groups.forEach((g) => { g.deep = 0; });
    for (let k = groups.length - 1; k > 0; k--) if (groups[k].box) groups[groups[k].parent].deep = Math.max(groups[groups[k].parent].deep, groups[k].deep + 1);
    this.least = 0;    // probability
    this.size = -1;    // index into sizes; -1: merged
    this.pairArcs();
    this.placeGroups();
  }

  // pairArcs makes links, u < v, of arcs: arcs[0] leads from u to v, arcs[1] back; null: none.
  pairArcs() {
    const { arcs } = this.graph, links = new Map();
    for (const arc of arcs) {
      const u = Math.min(arc.from, arc.to), v = Math.max(arc.from, arc.to), key = u * this.vertices + v;
      if (!links.has(key)) links.set(key, { u, v, arcs: [null, null] });
      links.get(key).arcs[arc.from === u ? 0 : 1] = arc;
    }
    this.links = [...links.values()];
    this.atSize = this.sizes.map((s) => new Map(s.arcs.map((i, k) => [arcs[i], s.latency[k]])));
    this.doubted = this.sizes.length > 0 || arcs.some((arc) => arc.likely !== undefined);
  }

  // placeGroups puts a group at its switch, or in the middle of its hosts.
  placeGroups() {
    const n = this.vertices, at = this.at = new Float32Array(3 * (n + this.groups.length));
    this.graph.places.forEach((x, i) => { at[i] = x / 10000; });
    this.head = this.groups.map(() => -1);
    for (let v = this.graph.hosts; v < n; v++) if (this.head[this.inside[v]] < 0) this.head[this.inside[v]] = v;
    this.groups.forEach((g, k) => {
      const members = this.head[k] >= 0 ? [this.head[k]] : report.order.slice(g.first, g.first + g.hosts);
      for (const v of members) for (let axis = 0; axis < 3; axis++) at[3 * (n + k) + axis] += at[3 * v + axis] / members.length;
    });
  }

  // boxes are the open groups that are drawn as boxes, outer ones first, with the shown vertices inside them.
  boxes() {
    const members = new Map();
    this.groups.forEach((g, k) => { if (g.box && this.open[k]) members.set(k, []); });
    for (const v of this.nodes) for (let k = v < this.vertices ? this.inside[v] : -1; k >= 0; k = this.groups[k].parent) if (members.has(k)) members.get(k).push(v);
    return [...members].filter(([, of]) => of.length > 1);
  }
  // isBoxed tells whether a switch stands for a host or a socket that is drawn as a box.
  isBoxed(v) { return this.graph.flat && v >= this.graph.hosts && v < this.vertices && this.groups[this.inside[v]].box; }

  // openTo closes all groups of the given level and finer ones; -1 opens all.
  openTo(level) { this.groups.forEach((g, k) => { this.open[k] = k === 0 || g.level > level; }); }

  // reveal opens what hides a vertex.
  reveal(v) { for (let k = this.inside[v]; k >= 0; k = this.groups[k].parent) this.open[k] = true; }

  likely(arc) {
    if (!arc) return 0;
    if (this.size >= 0) return this.atSize[this.size].has(arc) ? 1 : 0;
    return arc.likely ?? 1;
  }
  latency(arc) { return arc && (this.atSize[this.size]?.get(arc) ?? arc.latency); }
  bandwidth(arc) { return arc?.bandwidth; }

  // update works out which nodes and links are seen. A link has a direction for each
  // of its arcs that is likely enough; links of closed groups are drawn as one.
  update() {
    const closed = [];
    this.groups.forEach((g, k) => { closed[k] = g.parent >= 0 && closed[g.parent] >= 0 ? closed[g.parent] : this.open[k] ? -1 : k; });
    const standIn = (v) => closed[this.inside[v]] >= 0 ? this.vertices + closed[this.inside[v]] : v;
    this.nodes = [...new Set(Array.from({ length: this.vertices }, (_, v) => standIn(v)))];
    const merged = new Map();
    for (const link of this.links) {
      const there = link.arcs.map((arc) => this.likely(arc) > 0 && this.likely(arc) >= this.least);
      const u = standIn(link.u), v = standIn(link.v);
      if (!there[0] && !there[1] || u === v) continue;
      const key = u * (this.vertices + this.groups.length) + v, turned = v * (this.vertices + this.groups.length) + u;
      const same = merged.get(key) || merged.get(turned);
      const way = same && same.u !== u ? [there[1], there[0]] : there;
      if (same) {
        same.of.push(link);
        same.there = same.there.map((x, i) => x || way[i]);
      } else merged.set(key, { u, v, there, of: [link] });
    }
    this.shown = [...merged.values()];
  }

  // figure is the mean of what the arcs of a shown link have; null if nothing is known.
  figure(link, of) {
    let sum = 0, count = 0;
    for (const l of link.of) for (const arc of l.arcs) {
      const x = of(arc);
      if (x != null) { sum += x; count++; }
    }
    return count ? sum / count : null;
  }

  name(node) { return node < this.vertices ? this.graph.names[node] : this.groups[node - this.vertices].name; }
  // label is what stands beside a node: of a closed group its switch, if somebody has named it, and
  // the number of hosts in it.
  label(node) {
    const k = node - this.vertices, its = k < 0 ? "" : this.graph.names[this.head[k]] || "s0";
    const text = k < 0 ? node < this.graph.hosts && this.graph.labels && this.graph.labels[node] || this.name(node) : `${/^s\d+$/.test(its) ? this.name(node) : its} · ${this.groups[k].hosts}`;
    return text.length > 28 ? `${text.slice(0, 12)}…${text.slice(-15)}` : text; // names differ at their ends
  }
  isGroup(node) { return node >= this.vertices; }
  isHost(node) { return node < this.graph.hosts; }
}

// anArc is an arc of a link of which both directions have the same specification.
const anArc = (link) => link.arcs[0] || link.arcs[1];

// Ways to colour links: of(wiring, link) is a colour, legend what explains it.
const colourings = {
  latency: gradient("latency", (w) => (arc) => w.latency(arc), seconds, false),
  bandwidth: gradient("bandwidth", (w) => (arc) => w.bandwidth(arc), rate, true),
  // Bannikov and Salnikov 2014, section 2.2: from the background to green by (p^2+q^2)/(p+q).
  probability: {
    prepare() { this.none = css("stage"); this.sure = css("sure"); },
    of(w, link) {
      let shade = 0;
      for (const l of link.of) {
        const [p, q] = l.arcs.map((arc) => w.likely(arc));
        if (p + q > 0) shade = Math.max(shade, (p * p + q * q) / (p + q));
      }
      return mix(this.none, this.sure, Math.round(20 * shade) / 20);
    },
    legend() { return { stops: [this.none, this.sure], texts: ["0", "probability", "1"] }; },
  },
  // Section 2.3: white what nothing takes, red as fast as specified or faster, blue slower. Pale at
  // no difference, full at twice.
  comparison: {
    prepare(w) {
      Object.assign(this, { unused: css("unused"), fast: css("fast"), slow: css("slow"), pale: css("edge"), usual: 0 });
      if (!by("common").checked) return;
      const all = w.links.map((l) => this.ratio(l)).filter((x) => x !== null).sort((a, b) => a - b);
      if (all.length) this.usual = all[all.length >> 1];
    },
    ratio(link) {
      const { measured: m, specified: s } = anArc(link);
      return m > 0 && s > 0 ? Math.log(m / s) : null;
    },
    of(w, link) {
      if (anArc(link.of[0]).measured < 0) return this.unused;
      const x = this.ratio(link.of[0]);
      if (x === null) return this.pale;
      const off = x - this.usual, full = Math.min(1, Math.abs(off) / Math.log(2));
      return mix(this.pale, off > 1e-6 ? this.slow : this.fast, Math.round(20 * (0.35 + 0.65 * full)) / 20);
    },
    legend() { return { boxes: [[this.unused, "nothing takes it"], [this.fast, "as fast as specified, or faster"], [this.slow, "slower"], [this.pale, "cannot be told"]] }; },
  },
};

// gradient colours by a number on a logarithmic scale; backwards where more is better.
function gradient(name, of, text, backwards) {
  return {
    prepare(w) {
      const all = w.links.map((l) => w.figure({ of: [l] }, of(w))).filter((x) => x > 0);
      this.low = all.reduce((a, b) => Math.min(a, b), Infinity);
      // At least twice the least, or noise would have all colours.
      this.high = all.length ? all.reduce((a, b) => Math.max(a, b), 2 * this.low) : 0;
      this.unknown = css("edge");
    },
    of(w, link) {
      const x = w.figure(link, of(w));
      if (!(x > 0)) return x === 0 ? pace[0] : this.unknown;
      const share = Math.log(x / this.low) / Math.log(this.high / this.low);
      return ramp(pace, Math.round(24 * (backwards ? 1 - share : share)) / 24);
    },
    legend() {
      if (!(this.high > 0)) return { boxes: [[this.unknown, `${name} not known`]] };
      return { stops: pace, texts: backwards ? [text(this.high), name, text(this.low)] : [text(this.low), name, text(this.high)] };
    },
  };
}
