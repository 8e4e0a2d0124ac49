// What is said of a link or node that is pointed at, the legend, and the controls.

function describeLink(w, link) {
  const arrow = link.there[0] && link.there[1] ? "–" : link.there[0] ? "→" : "←";
  const lines = [], [one, ...more] = link.of;
  if (more.length) lines.push(counted(link.of.length, "link") + ", with means of");
  const both = (of, text) => {
    const [there, back] = more.length ? [w.figure(link, of), null] : one.arcs.map(of);
    if (there == null) return back == null ? "not known" : text(back) + " back";
    return back == null || text(back) === text(there) ? text(there) : `${text(there)} there, ${text(back)} back`;
  };
  lines.push("latency " + both((arc) => w.latency(arc), seconds));
  const estimated = link.of.some((l) => l.arcs.some((arc) => arc?.estimated));
  lines.push("bandwidth " + both((arc) => w.bandwidth(arc), rate) + (estimated ? ", as of links like it" : ""));
  const likely = [...new Set(one.arcs.filter((arc) => arc).map((arc) => w.likely(arc).toFixed(2)))];
  if (!more.length && w.doubted) lines.push("probability " + likely.join(" there, ") + (likely.length > 1 ? " back" : ""));
  if (link.there[0] !== link.there[1]) lines.push("one direction only");
  if (w === spec) {
    const { measured: m, specified: s } = anArc(one);
    if (m < 0) lines.push("nothing that was measured takes it");
    else if (m !== undefined) lines.push(`measured ${seconds(m)}, specified ${seconds(s)}` + (s > 0 ? `: ${Number((m / s).toPrecision(3))} times` : ""));
  }
  return [`${w.name(link.u)} ${arrow} ${w.name(link.v)}`, lines];
}

function describeNode(w, node) {
  const lines = [];
  let k = w.isGroup(node) ? w.groups[node - w.vertices].parent : w.inside[node];
  if (w.isGroup(node)) {
    const g = w.groups[node - w.vertices];
    lines.push(`${counted(g.hosts, report.noun)}: ${someHosts(g.first, g.hosts, 6)}`);
    lines.push("latency " + seconds(g.latency) + " inside");
    if (g.support !== undefined) lines.push(`confidence ${g.support.toFixed(2)}${g.weak ? ", uncertain" : ""}`);
    lines.push("click to open");
  } else lines.push(w.isHost(node) ? report.noun : "switch");
  const path = [];
  for (; k > 0; k = w.groups[k].parent) path.push(w.groups[k].name);
  if (path.length) lines.push("in " + path.join(", "));
  lines.push(counted(w.shown.filter((l) => l.u === node || l.v === node).length, "link") + " shown");
  return [w.name(node), lines];
}

// swatch is a small area of a colour, or of several that run into each other.
function swatch(...colours) {
  const area = document.createElement("i");
  area.style.background = colours.length > 1 ? `linear-gradient(to right, ${colours})` : colours[0];
  if (colours[0] === css("unused")) area.style.borderColor = css("edge");
  return area;
}

function drawLegend({ stops, texts, boxes }) {
  const row = document.createElement(stops ? "div" : "span");
  if (stops) row.append(...texts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  else for (const [colour, text] of boxes) row.append(swatch(colour), text);
  by("legend").replaceChildren(...(stops ? [swatch(...stops)] : []), row);
}

const view = new View(by("scene"));
const found = new Wiring(report.found, report.groups, report.inside, report.sizes);
const spec = report.spec && new Wiring(report.spec, [{ parent: -1, level: 0, name: "all", hosts: report.spec.hosts, first: 0 }], report.spec.names.map(() => 0), []);

// chooseWiring shows what was found, or what was specified.
function chooseWiring() {
  const compared = spec && by("which").value === "spec", w = compared ? spec : found;
  by("commonLabel").hidden = !compared;
  by("colourLabel").hidden = compared;
  by("depthLabel").hidden = compared || report.groups.length < 2;
  by("likelyLabel").hidden = compared || !w.doubted;
  by("sizeLabel").hidden = compared || !report.sizes.length;
  view.set(w, compared ? colourings.comparison : colourings[by("colour").value]);
  markSuspects();
}

function markSuspects() {
  if (view.wiring === found) view.mark(report.suspects.flatMap((s) => s.hosts), report.suspects.flatMap((s) => s.links));
  else view.mark([], []);
}

// The levels that a person may close, coarse to fine. At first all are open that 1,500 nodes show.
function fillDepth() {
  const levels = [...new Set(report.groups.slice(1).map((g) => g.level))].sort((a, b) => b - a);
  const options = levels.map((level) => [report.levels[level], level]).concat([[report.noun + "s", -1]]);
  by("depth").replaceChildren(...options.map(([text, value]) => new Option(text, value)));
  let chosen = options[0][1];
  for (const [, level] of options) {
    found.openTo(level);
    found.update();
    if (found.nodes.length <= 1500) chosen = level;
  }
  by("depth").value = chosen;
  found.openTo(chosen);
}

function fillColours() {
  const ways = ["latency"];
  if (report.found.arcs.some((arc) => arc.bandwidth !== undefined)) ways.push("bandwidth");
  if (found.doubted) ways.push("probability");
  by("colour").replaceChildren(...ways.map((way) => new Option(way, way)));
  // Of topologies that were merged, and of hosts wired to each other, doubt is what there is to see.
  if (report.sizes.length || found.doubted && report.found.hosts === report.found.names.length) by("colour").value = "probability";
}

// obey shows what a control that was changed says.
function obey({ target: { id, value } }) {
  if (id === "find") return;
  if (id === "which") { chooseWiring(); return; }
  if (id === "depth") found.openTo(Number(value));
  if (id === "colour") view.colouring = colourings[value];
  found.least = Number(by("likely").value);
  by("likelyShown").textContent = found.least;
  found.size = Number(by("size").value) - 1;
  by("sizeShown").textContent = found.size < 0 ? "all" : bytes(report.sizes[found.size].bytes);
  view.change();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  view.change();
  if (report.heat) drawHeat(report.heat);
}

function start() {
  fillDepth();
  fillColours();
  by("size").max = report.sizes.length;
  by("sizeShown").textContent = "all";
  for (const event of ["input", "change"]) by("controls").addEventListener(event, obey, true);
  by("find").addEventListener("input", () => {
    const text = by("find").value.trim().toLowerCase();
    if (!text) { markSuspects(); return; }
    const hits = view.wiring.graph.names.flatMap((name, v) => name.toLowerCase().includes(text) ? [v] : []);
    view.mark(hits, [], hits.length <= 50);
  });
  by("reset").addEventListener("click", () => view.reset());
  by("controls").addEventListener("submit", (e) => e.preventDefault());
  document.querySelectorAll("#suspects tbody tr").forEach((row, i) => row.addEventListener("click", () => {
    if (by("which")) by("which").value = "found";
    chooseWiring();
    view.mark(report.suspects[i].hosts, report.suspects[i].links, true);
    by("wiring").scrollIntoView({ behavior: "smooth" });
  }));

  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  by("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  // Paper is light.
  let before;
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; setTheme("light"); view.paint(); });
  addEventListener("afterprint", () => setTheme(before));

  chooseWiring();
  if (report.heat) drawHeat(report.heat);
  drawTables();
}
