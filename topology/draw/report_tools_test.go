package draw

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// opened is the page of a report in a browser.
func opened(t *testing.T, r *Report) *browser {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(written(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	return openBrowser(t, path, 1200, 900, false)
}

// untroubled fails if the page has complained, or asked for anything but itself. With go test -artifacts a
// picture of the window stays.
func (b *browser) untroubled() {
	b.t.Helper()
	b.Shot(filepath.Join(b.t.ArtifactDir(), "window.png"))
	if len(b.Errors) > 0 {
		b.t.Errorf("the page complains: %s", strings.Join(b.Errors, "; "))
	}
	if len(b.Requests) != 1 || !strings.HasPrefix(b.Requests[0], "file://") {
		b.t.Errorf("the page made the requests %v, want none but for itself", b.Requests)
	}
}

// at is where on the window the expression, of x and y on the canvas, lies.
func (b *browser) at(expression string) (x, y float64) {
	b.t.Helper()
	var place [2]float64
	b.Eval("(() => { const box = view.canvas.getBoundingClientRect(), [x, y] = "+expression+"; return [box.left + x, box.top + y] })()", &place)
	return place[0], place[1]
}

// ringReport is of a ring of eight hosts with an evil name among them: each arc there has a probability from 1
// down to 0.3, every other link has one back, and the topology of 64 KiB is half of it.
func ringReport(t *testing.T) *Report {
	var arcs, half []topology.Arc
	for i := range 8 {
		j := (i + 1) % 8
		arcs = append(arcs, topology.Arc{From: i, To: j, Latency: 2e-6, Bandwidth: 1e9, Probability: 1 - 0.1*float64(i)})
		if i%2 == 0 {
			arcs = append(arcs, topology.Arc{From: j, To: i, Latency: 3e-6, Bandwidth: 2e9, Probability: 1 - 0.1*float64(i)})
		}
		if i < 4 {
			half = append(half, topology.Arc{From: i, To: j, Latency: 70e-6, Bandwidth: math.NaN(), Probability: 1})
		}
	}
	graph := func(arcs []topology.Arc) *topology.Graph {
		g, err := topology.NewGraph(8, 0, []string{"a", "b", "c", "d", "e", "f", "</script><script>window.evil=1</script>", "h"}, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := graph(arcs)
	return &Report{
		Graph: g, Latencies: mat.NewDense(8, 8, g.HostDistances()), Source: "made up", Bytes: 8, Sizes: []topology.LocalTopology{{Bytes: 65536, Arcs: half}},
		Specification: &Specification{Name: "plan", Graph: g, Links: []SpecifiedLink{
			{U: 0, V: 1, Specified: 2e-6, Measured: 2e-6}, {U: 1, V: 2, Specified: 1e-6, Measured: 2e-6}, {U: 2, V: 3, Unused: true, Specified: 1e-6, Measured: math.NaN()},
		}},
	}
}

// What a person does with a page, done in Chromium: turn, point, slide, compare, look at pairs.
func TestToolsReportInBrowser(t *testing.T) {
	b := opened(t, ringReport(t))
	number := func(expression string) (x float64) {
		t.Helper()
		b.Eval(expression, &x)
		return x
	}
	// It has drawn something: a canvas of one colour has nothing on it.
	if colours := number("new Set(new Uint32Array(view.context.getImageData(0, 0, view.canvas.width, view.canvas.height).data.buffer)).size"); colours < 20 {
		t.Errorf("%g colours on the canvas, want a picture", colours)
	}
	// Nor is it blank in the frame in which its size changes. The observer here is called after that of the page.
	if blank := number(`new Promise((done) => {
		let calls = 0;
		new ResizeObserver((_, own) => {
			if (calls++ === 0) { view.canvas.style.width = "600px"; return; }
			own.disconnect();
			const blank = Object.assign(document.createElement("canvas"), { width: view.canvas.width, height: view.canvas.height });
			done(Number(view.canvas.toDataURL() === blank.toDataURL()));
			view.canvas.style.width = "";
		}).observe(view.canvas);
	})`); blank != 0 {
		t.Error("the canvas is blank while its size changes")
	}
	b.Painted()
	if nodes, links := number("+view.canvas.dataset.nodes"), number("+view.canvas.dataset.links"); nodes != 8 || links != 8 {
		t.Errorf("%g nodes and %g links, want 8 and 8", nodes, links)
	}

	// The four links without a way back are headed by arrows.
	if arrows := number("(() => { let n = 0; view.paintArrow = (...given) => { n++; View.prototype.paintArrow.apply(view, given); }; view.paint(); delete view.paintArrow; return n; })()"); arrows != 4 {
		t.Errorf("%g arrows, want 4", arrows)
	}

	// A drag turns it, the wheel zooms.
	before := b.Text("[view.yaw, view.pitch, view.canvas.toDataURL().length]")
	x, y := b.at("[view.width / 2, view.height / 2 + 3]")
	b.Mouse("mousePressed", x, y, true)
	b.Mouse("mouseMoved", x+60, y+10, true)
	b.Mouse("mouseMoved", x+120, y+20, true)
	b.Mouse("mouseReleased", x+120, y+20, false)
	b.Painted()
	if after := b.Text("[view.yaw, view.pitch, view.canvas.toDataURL().length]"); after == before {
		t.Errorf("a drag left the view at %s", after)
	}
	zoom := number("view.zoom")
	b.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -120}, nil)
	b.Painted()
	if now := number("view.zoom"); now <= zoom {
		t.Errorf("the wheel changed the zoom from %g to %g, want more", zoom, now)
	}
	b.Eval("view.reset()", nil)
	b.Painted()

	// Pointing at a link tells its two ends and figures: a-b has both directions, b-c one.
	middle := func(u, v int) string {
		return "[(view.x[" + string(rune('0'+u)) + "] + view.x[" + string(rune('0'+v)) + "]) / 2, (view.y[" + string(rune('0'+u)) + "] + view.y[" + string(rune('0'+v)) + "]) / 2]"
	}
	for ends, want := range map[[2]int][]string{
		{0, 1}: {"a – b", "2 us there, 3 us back", "1 GB/s there, 2 GB/s back", "probability 1.00"},
		{1, 2}: {"b → c", "latency 2 us", "one direction only", "probability 0.90"},
	} {
		x, y := b.at(middle(ends[0], ends[1]))
		b.Mouse("mouseMoved", x, y, false)
		b.Painted()
		said := b.Text("by('tip').hidden ? 'nothing' : by('tip').innerText")
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("pointing at link %v says %q, want %q in it", ends, said, part)
			}
		}
	}
	b.Mouse("mouseMoved", 5, 5, false)
	b.Until("by('tip').hidden")

	// The sliders: arcs of at least 0.65 are those from a, b, c and d; 64 KiB has four, as measured then.
	slide := func(id, value string) {
		b.Eval("by('"+id+"').value = '"+value+"'; by('"+id+"').dispatchEvent(new Event('input'))", nil)
		b.Painted()
	}
	slide("likely", "0.65")
	if links := number("+view.canvas.dataset.links"); links != 4 {
		t.Errorf("%g links with a probability of 0.65, want 4", links)
	}
	slide("likely", "0")
	slide("size", "1")
	if links, said := number("+view.canvas.dataset.links"), b.Text("by('sizeShown').textContent + describeLink(found, found.shown[0])"); links != 4 || !strings.Contains(said, "64 KiB") || !strings.Contains(said, "70 us") {
		t.Errorf("%g links with 64 KiB, %s; want 4 of 70 us", links, said)
	}
	slide("size", "0")
	if links := number("+view.canvas.dataset.links"); links != 8 {
		t.Errorf("%g links with all sizes, want 8", links)
	}

	// Against the plan: red as fast, blue slower and the bluer the slower, white unused.
	b.Eval("by('which').value = 'spec'; by('which').dispatchEvent(new Event('change'))", nil)
	b.Painted()
	var shades [][3]int
	b.Eval("[[0,1],[1,2],[2,3]].map(([u, v]) => channels(view.wiring.shown.find((l) => l.u === u && l.v === v).colour))", &shades)
	if fast, slow, unused := shades[0], shades[1], shades[2]; fast[0] <= fast[2] || slow[2] <= slow[0]+100 || unused != [3]int{255, 255, 255} {
		t.Errorf("colours of links as fast, twice as slow, and unused: %v", shades)
	}

	// The heat map tells the pair.
	b.Eval("by('heat').scrollIntoView()", nil)
	var cell [2]float64
	b.Eval("(() => { const box = by('heat').querySelector('canvas').getBoundingClientRect(); return [box.left + box.width * 1.5 / 8, box.top + box.height * 0.5 / 8] })()", &cell)
	b.Mouse("mouseMoved", cell[0], cell[1], false)
	b.Until("!by('tip').hidden")
	if said := b.Text("by('tip').innerText"); !strings.Contains(said, "a → b") || !strings.Contains(said, "2 us") {
		t.Errorf("pointing at the pair a, b says %q, want 2 us", said)
	}
	if b.Text("window.evil") != "undefined" {
		t.Error("a name has run as a script")
	}
	b.untroubled()
}

// A machine of more hosts than a screen shows opens with its groups closed; a click opens one, and
// one on its switch closes it.
func TestToolsLargeReportInBrowser(t *testing.T) {
	c, d := topotest.Generate(t, "tree:8x25x10")
	b := opened(t, &Report{Graph: c.Graph, Hierarchy: c.Hierarchy, Latencies: d, Suspects: []Suspect{{Name: "host h1234", Reason: "made up", Hosts: []int{1234}}}})
	nodes := func() string { return b.Text("view.canvas.dataset.nodes") }
	// 2,000 hosts on 200 racks in 8 pods below one switch: of racks 200 are shown.
	if got := nodes(); got != "209" {
		t.Errorf("%s nodes at first, want 209", got)
	}
	click := func(expression string) {
		x, y := b.at(expression)
		b.Mouse("mouseMoved", x, y, false)
		b.Mouse("mousePressed", x, y, true)
		b.Mouse("mouseReleased", x, y, false)
		b.Painted()
	}
	b.Eval("var near = found.nodes.filter((v) => found.isGroup(v)).sort((a, b) => view.near[b] - view.near[a])[0], its = found.head[near - found.vertices]", nil)
	click("[view.x[near], view.y[near]]")
	if got := nodes(); got != "219" { // its switch and ten hosts for the rack
		t.Errorf("%s nodes with one rack open, want 219", got)
	}
	click("[view.x[its], view.y[its]]")
	if got := nodes(); got != "209" {
		t.Errorf("%s nodes with that rack closed again, want 209", got)
	}
	b.Eval("document.querySelector('#suspects tbody tr').click()", nil)
	b.Painted()
	if got := b.Text("found.nodes.includes(1234) && view.marked.has(1234)"); got != "true" {
		t.Errorf("a click on the suspect shows it: %s", got)
	}
	// What is flat is not turned.
	x, y := b.at("[view.width / 2, view.height / 2]")
	b.Mouse("mousePressed", x, y, true)
	b.Mouse("mouseMoved", x+40, y+30, true)
	b.Mouse("mouseReleased", x+40, y+30, false)
	if got := b.Text("[view.yaw, view.pitch]"); got != "0,0" {
		t.Errorf("a drag has turned the plane to %s", got)
	}
	b.Eval("by('depth').value = -1; by('depth').dispatchEvent(new Event('change')); view.turn(0.5, 0.2)", nil)
	b.Painted()
	if got := nodes(); got != "2209" {
		t.Errorf("%s nodes with all open, want 2209", got)
	}
	b.untroubled()
}

// Machines with little to show, and other shapes than trees, are drawn without complaint.
func TestToolsReportsOfAnyShape(t *testing.T) {
	var folder []string
	add := func(r *Report) {
		path := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(path, []byte(written(t, r)), 0o644); err != nil {
			t.Fatal(err)
		}
		folder = append(folder, path)
	}
	for _, spec := range []string{"ring:6", "torus:4x4 hosts=2", "mesh:3x3x3", "fattree:4", "dragonfly:2,4,2", "star:2"} {
		c, d := topotest.Generate(t, spec)
		add(&Report{Graph: c.Graph, Hierarchy: c.Hierarchy, Latencies: d})
	}
	for _, hosts := range []int{0, 1, 2} {
		g, err := topology.NewGraph(hosts, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		add(&Report{Graph: g})
	}
	b := openBrowser(t, folder[0], 900, 700, true)
	for _, path := range folder[1:] {
		b.Call("Page.navigate", map[string]any{"url": "file://" + path}, nil)
		b.Until("location.pathname === '" + path + "' && document.readyState === 'complete' && by('scene').dataset.frames > 0")
	}
	if len(b.Errors) > 0 || len(b.Requests) != len(folder) || slices.ContainsFunc(b.Requests, func(r string) bool { return !strings.HasPrefix(r, "file://") }) {
		t.Errorf("complaints %v, requests %v", b.Errors, b.Requests)
	}
}
