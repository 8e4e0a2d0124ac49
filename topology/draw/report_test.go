package draw

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

var update = flag.Bool("update", false, "rewrite golden files")

// written is the page of a report.
func written(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteReport(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// dataOf is the data block of a page.
func dataOf(t testing.TB, page string) *pageData {
	t.Helper()
	_, rest, _ := strings.Cut(page, `id="data">`)
	text, _, ok := strings.Cut(rest, "</script>")
	var d pageData
	if err := json.Unmarshal([]byte(text), &d); !ok || err != nil {
		t.Fatalf("the page's data: %v in %.200s", err, text)
	}
	return &d
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *figure) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = figure(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// rates is a figure of the bandwidth over the size.
func rates(t testing.TB, name string) *Figure {
	t.Helper()
	f, err := Plot("Bandwidth over message size", Axis{Name: "message size", Bytes: true}, Axis{Name: "bandwidth", Log: true},
		[]Series{{Name: name, X: []float64{0, 64, 4096}, Y: []float64{1, 1e6, math.NaN()}}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// reportOf is a report with everything of a made-up cluster.
func reportOf(t testing.TB, spec string) *Report {
	t.Helper()
	c, d := topotest.Generate(t, spec)
	return &Report{
		Graph: c.Graph, Hierarchy: c.Hierarchy, Latencies: d, Source: "made up", Bytes: 8,
		Figures: []*Figure{rates(t, "all")},
		Sizes:   []topology.LocalTopology{{Bytes: 8, Arcs: c.Graph.Arcs()}, {Bytes: 4096, Arcs: c.Graph.Arcs()}},
		Specification: &Specification{
			Name: "plan", Graph: c.Graph, Links: []SpecifiedLink{{U: 0, V: c.Graph.Out(0)[0].To, Specified: 5e-6, Measured: 8e-6}},
		},
		Suspects: []Suspect{{Name: "host h1", Reason: "it is slow", Hosts: []int{1}}},
		Warnings: []string{"it was late"},
		How:      []Table{{Title: "Network", Rows: [][]string{{"date", "2026-01-02"}}}},
	}
}

// The page without what is checked elsewhere: its style, its script and its figures.
func TestReportIsTheGoldenPage(t *testing.T) {
	page := written(t, reportOf(t, "tree:2x3 latency=20us,5us rate=1Gbps,1Gbps"))
	if again := written(t, reportOf(t, "tree:2x3 latency=20us,5us rate=1Gbps,1Gbps")); again != page {
		t.Error("the same report gives another page")
	}
	for _, part := range []string{pageStyle, wiringScript + viewScript + controlsScript + tablesScript} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not hold %.60q as it is", part)
		}
		page = strings.Replace(page, part, "...", 1)
	}
	page = regexp.MustCompile(`svg&#43;xml;base64,[^"]*`).ReplaceAllString(page, "svg+xml;base64,...")
	page = regexp.MustCompile(`sha256-[^ &;"]*(?:&#[0-9]+;[^ &;"]*)*`).ReplaceAllString(page, "sha256-...")
	name := filepath.Join("testdata", "report.html")
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if page != string(want) {
		t.Errorf("the page is not %s (go test -update rewrites it):\n%s", name, page)
	}
}

// What comes from outside stays text, whatever is in it.
func TestReportEscapes(t *testing.T) {
	evil := `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "`${1}{{.}}\u2028 Ωλ 漢 \x00\xff<!--"
	r := reportOf(t, "tree:2x3")
	var err error
	if r.Graph, err = r.Graph.WithHostNames(slices.Repeat([]string{evil}, 6)); err != nil {
		t.Fatal(err)
	}
	r.Noun, r.Source, r.Figures = evil, evil, []*Figure{rates(t, evil)}
	r.Suspects[0].Name, r.Suspects[0].Reason, r.Warnings[0] = evil, evil, evil
	r.How = []Table{{Title: evil, Rows: [][]string{{evil, evil}}}}
	r.Specification.Name = evil
	page := written(t, r)
	lower := strings.ToLower(page)
	for tag, want := range map[string]int{"<script": 2, "</script": 2, "<img": 3, "<!--": 0} {
		if got := strings.Count(lower, tag); got != want {
			t.Errorf("%d times %s in the page, want %d", got, tag, want)
		}
	}
	// JSON has no bytes that are not UTF-8, and HTML no zeros.
	readable := strings.ToValidUTF8(evil, "\ufffd")
	if got := dataOf(t, page).Found.Names[3]; got != readable {
		t.Errorf("name in the data = %q, want %q", got, readable)
	}
	title, _, _ := strings.Cut(page[strings.Index(page, "<h1>")+4:], "</h1>")
	if got := html.UnescapeString(title); !strings.HasPrefix(got, "Network of 6 </script><script>alert(1)</script><img") || !strings.Contains(got, "{{.}}\u2028 Ωλ 漢") {
		t.Errorf("heading reads %q, want %q", got, evil)
	}
}

// lazy is a matrix that is never held.
type lazy struct {
	n  int
	at func(i, j int) float64
}

func (l lazy) Dims() (rows, columns int) { return l.n, l.n }
func (l lazy) At(i, j int) float64       { return l.at(i, j) }
func (l lazy) T() mat.Matrix             { return mat.Transpose{Matrix: l} }

// The bounds: 1,024 hosts below 5 MB, 5,024 below 10 MB.
func TestReportStaysSmall(t *testing.T) {
	cases := []struct {
		spec  string
		bound int
	}{{"tree:8x8x16", 5e6}, {"tree:8x16x40", 10e6}} // 1,024 and 5,120 hosts
	for _, c := range cases {
		if !tooltest.Long() && c.bound > 5e6 {
			continue
		}
		cluster, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		n := cluster.Graph.Hosts()
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("node%05d.cluster.example.org", i)
		}
		named, err := cluster.Graph.WithHostNames(names)
		if err != nil {
			t.Fatal(err)
		}
		noise := lazy{n, func(i, j int) float64 { return 1e-6 * (1 + float64((i*7919+j*104729)%1000)/100) }}
		page := written(t, &Report{Graph: named, Hierarchy: cluster.Hierarchy, Latencies: noise})
		t.Logf("%s: %d bytes", c.spec, len(page))
		if len(page) > c.bound {
			t.Errorf("%s: %d bytes, want at most %d", c.spec, len(page), c.bound)
		}
	}
}

// Of more links than a page holds the likeliest stay, and the page says how many do not.
func TestLinksOfACompleteGraph(t *testing.T) {
	const n = 210 // 43,890 arcs
	var arcs []topology.Arc
	for i := range n {
		for j := range n {
			if i != j {
				arcs = append(arcs, topology.Arc{From: i, To: j, Latency: 1e-6, Bandwidth: math.NaN(), Probability: float64(1+(i+j)%10) / 10})
			}
		}
	}
	g, err := topology.NewGraph(n, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	data := newGraphData(g)
	if len(data.Arcs) != maxArcs || data.LeftOut != len(arcs)-maxArcs {
		t.Errorf("%d arcs kept, %d left out, want %d and %d", len(data.Arcs), data.LeftOut, maxArcs, len(arcs)-maxArcs)
	}
	kept := data.arcIndex()
	if len(kept) != maxArcs {
		t.Errorf("%d arcs are different ones", len(kept))
	}
	for _, a := range arcs {
		if _, ok := kept[[2]int{a.From, a.To}]; !ok && a.Probability > 0.1+1e-9 {
			t.Fatalf("arc %d->%d of probability %g was left out, those of 0.1 were not all", a.From, a.To, a.Probability)
		}
	}
}

// cellsOf decodes a heat map.
func cellsOf(t testing.TB, h *heatData) []float64 {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(h.Cells)
	if err != nil || len(raw) != 2*h.Side*h.Side {
		t.Fatalf("%d bytes of cells for %d a side: %v", len(raw), h.Side, err)
	}
	cells := make([]float64, h.Side*h.Side)
	for i := range cells {
		cells[i] = math.NaN()
		if step := binary.LittleEndian.Uint16(raw[2*i:]); step > 0 {
			cells[i] = float64(h.Low) * math.Pow(float64(h.High)/float64(h.Low), float64(step-1)/heatSteps)
		}
	}
	return cells
}

// noisy is a random matrix in which a tenth was not measured, with one outlier.
func noisy(n int) *mat.Dense {
	rng := rand.New(rand.NewPCG(1, 2))
	d := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			d.Set(i, j, 1e-6*math.Exp(3*rng.Float64()))
			if rng.Float64() < 0.1 {
				d.Set(i, j, math.NaN())
			}
		}
	}
	d.Set(2, 5, 1)
	return d
}

func same(a, b, tolerance float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance*b
}

// Each cell against the matrix, the cut against sorting.
func TestPairsAreThoseOfTheMatrix(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:4x5 shuffle seed=3")
	n := c.Graph.Hosts()
	d := noisy(n)
	data := dataOf(t, written(t, &Report{Graph: c.Graph, Hierarchy: c.Hierarchy, Latencies: d}))
	var known []float64
	cells := cellsOf(t, data.Heat)
	for row, i := range data.Order {
		for column, j := range data.Order {
			want := d.At(i, j)
			if i == j {
				want = math.NaN()
			}
			// Steps of ln(1 s / 1 us) / 65534 are 0.02 %.
			if got := cells[row*n+column]; !same(got, want, 3e-4) {
				t.Fatalf("cell %d, %d = %g, want %g", row, column, got, want)
			}
			if !math.IsNaN(want) {
				known = append(known, want)
			}
		}
	}
	slices.Sort(known)
	below := int(math.Ceil(usualPercentile * float64(len(known))))
	if cut := float64(data.Heat.Cut); !same(cut, known[below-1], 3e-4) || !strings.Contains(data.Heat.Note, "cut at the percentile 99.") {
		t.Errorf("cut at %g, %q; want %g", cut, data.Heat.Note, known[below-1])
	}
}

// A binCase is an axis in bins.
type binCase struct {
	all  span
	axis Axis
	bins int
}

// shareOf is where a value is on the axis.
func (c *binCase) shareOf(v float64) float64 {
	if c.axis.Log {
		return math.Log(v/c.all.low) / math.Log(c.all.high/c.all.low)
	}
	return (v - c.all.low) / (c.all.high - c.all.low)
}

// Each bin of a distribution holds the values between its edges, the first and the last value in its outer ones.
func TestBinsHoldWhatLiesBetweenTheirEdges(t *testing.T) {
	for _, c := range []binCase{{span{1e-6, 1e-3}, Axis{Log: true}, 17}, {span{-2, 5}, Axis{}, 9}} {
		for bin := range c.bins {
			share := (float64(bin) + 0.5) / float64(c.bins)
			v := c.all.low + share*(c.all.high-c.all.low)
			if c.axis.Log {
				v = c.all.low * math.Pow(c.all.high/c.all.low, share)
			}
			for value, wanted := range map[float64]int{v: bin, c.all.low: 0, c.all.high: c.bins - 1} {
				got := c.axis.count([]float64{value}, c.all, c.bins).Bins
				if low := float64(wanted) / float64(c.bins); len(got) != 1 || got[0].Weight != 1 || math.Abs(c.shareOf(got[0].Min)-low) > 1e-9 ||
					math.Abs(c.shareOf(got[0].Max)-low-1/float64(c.bins)) > 1e-9 {
					t.Errorf("%g is in %v, want it in bin %d of %d", value, got, wanted, c.bins)
				}
			}
		}
	}
}

func TestBlocksAreMedians(t *testing.T) {
	const n = 2*heatSide + 6 // blocks of 3, the last of 1
	d := noisy(n)
	heat := newHeatData(d, flatHierarchy(n), "")
	if heat.Block != 3 || heat.Side != 685 {
		t.Fatalf("blocks of %d, %d a side, want 3 and 685", heat.Block, heat.Side)
	}
	cells := cellsOf(t, heat)
	for _, at := range [][2]int{{0, 1}, {7, 7}, {100, 684}, {684, 684}} {
		var known []float64
		for i := 3 * at[0]; i < min(n, 3*at[0]+3); i++ {
			for j := 3 * at[1]; j < min(n, 3*at[1]+3); j++ {
				if x := d.At(i, j); i != j && !math.IsNaN(x) {
					known = append(known, x)
				}
			}
		}
		if got, want := cells[at[0]*heat.Side+at[1]], stats.Median(known); !same(got, want, 3e-4) {
			t.Errorf("cell %v = %g, want %g", at, got, want)
		}
	}
}

// Groups are contiguous in the order, and a switch is in the group of all that hang on it: of a tree the one whose
// hosts are those below.
func TestOrderAndInside(t *testing.T) {
	for _, spec := range []string{"tree:2x3x4 shuffle", "tree:[2,5,5]x3 shuffle seed=2", "fattree:4,8", "dragonfly:2,4,2", "torus:4x4 hosts=2"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		order, first := groupOrder(c.Hierarchy)
		for i, g := range groupsOf(c.Hierarchy, first, newTextTree(c.Graph, c.Hierarchy, TextSettings{}).groupNames()) {
			hosts := slices.Sorted(slices.Values(order[g.First : g.First+g.Hosts]))
			if want := c.Hierarchy.Groups()[i].Hosts; !slices.Equal(hosts, want) {
				t.Errorf("%s: %s is %v, want %v", spec, g.Name, hosts, want)
			}
		}
		inside := insideOf(c.Graph, c.Hierarchy)
		for v := c.Graph.Hosts(); v < c.Graph.Vertices(); v++ {
			for _, a := range c.Graph.Out(v) {
				if in := c.Hierarchy.Groups()[inside[v]].Hosts; a.To < c.Graph.Hosts() && !slices.Contains(in, a.To) {
					t.Errorf("%s: host %d on switch %d is outside the switch's group %v", spec, a.To, v, in)
				}
			}
		}
		if !strings.HasPrefix(spec, "tree") {
			continue
		}
		seen := make([]int, len(c.Hierarchy.Groups()))
		for _, k := range inside[c.Graph.Hosts():] {
			seen[k]++
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
			t.Errorf("%s: switches per group are %v, want one each", spec, seen)
		}
	}
}

// Machines with little to show still have a page.
func TestReportOfLittle(t *testing.T) {
	nan := math.NaN()
	graph := func(hosts int, arcs ...topology.Arc) *topology.Graph {
		g, err := topology.NewGraph(hosts, 0, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	oneWay := topology.Arc{From: 0, To: 1, Latency: nan, Bandwidth: nan, Probability: 0.5}
	for name, c := range map[string]struct {
		report *Report
		title  string
	}{
		"no host":            {&Report{Graph: graph(0)}, "Network of 0 hosts"},
		"one host":           {&Report{Graph: graph(1), Latencies: mat.NewDense(1, 1, nil)}, "Network of 1 host"},
		"two cores":          {&Report{Graph: graph(2, oneWay), Noun: "core", Latencies: mat.NewDense(2, 2, []float64{0, nan, nan, 0})}, "Network of 2 cores"},
		"equal measurements": {&Report{Graph: graph(2, oneWay), Latencies: mat.NewDense(2, 2, []float64{0, 1e-6, 1e-6, 0})}, "Network of 2 hosts"},
		"measurements of 0":  {&Report{Graph: graph(2), Latencies: mat.NewDense(2, 2, nil)}, "Network of 2 hosts"},
	} {
		page := written(t, c.report)
		if !strings.Contains(page, "<h1>"+c.title+"</h1>") {
			t.Errorf("%s: the page does not say %q", name, c.title)
		}
		d := dataOf(t, page)
		if d.Order == nil || d.Inside == nil || d.Suspects == nil || d.Sizes == nil || d.Found.Places == nil || d.Found.Arcs == nil {
			t.Errorf("%s: a list is null, which the script does not expect", name)
		}
		if len(d.Found.Places) != 3*c.report.Graph.Vertices() {
			t.Errorf("%s: %d coordinates", name, len(d.Found.Places))
		}
	}
}

func TestReportRefuses(t *testing.T) {
	g := topotest.Star(t, 3, 1e-6)
	for want, r := range map[string]*Report{
		"no graph given":                   {},
		"4 hosts in the hierarchy, 3":      {Graph: g, Hierarchy: flatHierarchy(4)},
		`table "t": 1 cells for 2 columns`: {Graph: g, How: []Table{{Title: "t", Rows: [][]string{{"a"}}}}},
		"2 x 2 latencies for 3 hosts":      {Graph: g, Latencies: mat.NewDense(2, 2, nil)},
		"the topology of 8 B has an arc":   {Graph: g, Sizes: []topology.LocalTopology{{Bytes: 8, Arcs: topotest.Star(t, 4, 1e-6).Arcs()}}},
		`suspect "s": host 3`:              {Graph: g, Suspects: []Suspect{{Name: "s", Hosts: []int{3}}}},
		"the specification has no graph":   {Graph: g, Specification: &Specification{}},
		"specified link 0-9":               {Graph: g, Specification: &Specification{Graph: g, Links: []SpecifiedLink{{U: 0, V: 9}}}},
	} {
		var b bytes.Buffer
		if err := WriteReport(&b, r); err == nil || !strings.Contains(err.Error(), want) || b.Len() > 0 {
			t.Errorf("WriteReport = %v with %d bytes written, want an error with %q and none", err, b.Len(), want)
		}
	}
}

// What is uncertain is told in the first lines, in the list and in the tables.
func TestReportTellsUncertainGroups(t *testing.T) {
	g := topotest.Star(t, 4, 1e-6)
	h, err := topology.NewHierarchy(4, []topology.Level{{Name: "rack", Latency: 1e-6, Confidence: 0.5}}, []topology.Group{
		{Hosts: []int{0, 1}, Latency: 1e-6, Confidence: 0.5}, {Hosts: []int{2, 3}, Latency: 1e-6, Confidence: 1},
	}, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, &Report{Graph: g, Hierarchy: h})
	for _, want := range []string{
		"Network of 4 hosts", "<td>rack</td><td>2</td><td>2</td><td>1 us</td><td>0.50-1.00</td>", "<td>all</td><td>1</td><td>4</td><td>2 us</td>",
		"1 of 2 groups uncertain: the measurements do not show them clearly.",
		"<li>rack 1 (2 hosts), confidence 0.50</li>", `<tr class="weak"><td>rack</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if d := dataOf(t, page); !d.Groups[1].Uncertain || d.Groups[2].Uncertain {
		t.Errorf("uncertain in the data: %v and %v, want only the first", d.Groups[1].Uncertain, d.Groups[2].Uncertain)
	}
}

// The page calls groups what Text calls them: by the racks that the names of their hosts tell, and else by their switch.
func TestReportNamesGroupsAsTextDoes(t *testing.T) {
	c, _ := topotest.Generate(t, "tree:2x3")
	racks, err := c.Graph.WithHostNames([]string{"r1n1", "r1n2", "r1n3", "r2n1", "r2n2", "r2n3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*topology.Graph{c.Graph, racks} {
		var places []Place
		for _, name := range g.Names()[:6] {
			places = append(places, Place{Host: name, Core: -1})
		}
		var tree strings.Builder
		if err := Text(&tree, g, c.Hierarchy, &TextSettings{Places: places}); err != nil {
			t.Fatal(err)
		}
		for _, group := range dataOf(t, written(t, &Report{Graph: g, Hierarchy: c.Hierarchy})).Groups {
			if !strings.Contains(tree.String(), group.Name+" ") {
				t.Errorf("the page names %q, which is not in the text:\n%s", group.Name, tree.String())
			}
		}
	}
}
