package draw

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"github.com/topocast/topocast/topology"
)

// A figure is a number in the page, of five digits. Fields of figures that are not known are left out.
type figure float64

// IsZero tells whether a figure is not known.
func (f figure) IsZero() bool { return !finite(float64(f)) }

// MarshalJSON writes what the page's script reads.
func (f figure) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'g', 5, 64), nil
}

// pageData is what the page's script draws from.
type pageData struct {
	Noun     string        `json:"noun"`
	Found    *graphData    `json:"found"`
	Spec     *graphData    `json:"spec,omitempty"`
	Levels   []string      `json:"levels"` // fine to coarse, the root's last
	Groups   []groupData   `json:"groups"` // the root first, parents before children
	Inside   []int         `json:"inside"` // vertex -> the smallest group that holds it
	Order    []int         `json:"order"`  // hosts as the hierarchy nests them
	Sizes    []sizeData    `json:"sizes"`
	Suspects []suspectData `json:"suspects"`
	Heat     *heatData     `json:"heat,omitempty"`
}

// graphData is a graph with the places of its vertices.
type graphData struct {
	Hosts   int       `json:"hosts"`
	Names   []string  `json:"names"`
	Labels  []string  `json:"labels,omitempty"` // of hosts, beside their dots; "" or left out: the name
	Flat    bool      `json:"flat,omitempty"`   // all places are in one plane, which is looked at from the front
	Places  []int     `json:"places"`           // x, y, z of each vertex; placeScale is the radius of all
	Arcs    []arcData `json:"arcs"`
	LeftOut int       `json:"leftOut,omitempty"` // arcs that are not in the page
}

type arcData struct {
	From      int    `json:"from"`
	To        int    `json:"to"`
	Latency   figure `json:"latency,omitzero"`
	Bandwidth figure `json:"bandwidth,omitzero"`
	Likely    figure `json:"likely,omitzero"` // probability; left out: 1
	Estimated bool   `json:"estimated,omitempty"`
	// Of a specification.
	Specified figure `json:"specified,omitzero"`
	Measured  figure `json:"measured,omitzero"` // below 0: nothing takes the arc
}

type groupData struct {
	Parent     int    `json:"parent"`
	Level      int    `json:"level"`
	Name       string `json:"name"`
	Hosts      int    `json:"hosts"`
	First      int    `json:"first"` // index into Order of its first host; the others follow
	Latency    figure `json:"latency,omitzero"`
	Confidence figure `json:"support,omitzero"`
	Uncertain  bool   `json:"weak,omitempty"`
	Box        bool   `json:"box,omitempty"` // a host or a socket, drawn as a box around its cores
}

type sizeData struct {
	Bytes   int64    `json:"bytes"`
	Arcs    []int    `json:"arcs"` // of Found
	Latency []figure `json:"latency"`
}

const (
	placeScale = 10_000
	maxArcs    = 40_000 // of a graph in the page: three megabytes, and more than a screen can show
)

func (r *Report) data() *pageData {
	h := r.hierarchy()
	order, first := groupOrder(h)
	d := &pageData{
		Noun: r.noun(), Found: newGraphData(r.Graph), Levels: []string{}, Groups: groupsOf(h, first, r.text().groupNames()),
		Inside: insideOf(r.Graph, h), Order: order, Sizes: []sizeData{}, Suspects: r.suspectsData(),
	}
	for l := range len(h.Levels()) + 1 {
		d.Levels = append(d.Levels, h.LevelName(l))
	}
	merged := topology.Result{Graph: r.Graph, Local: r.Sizes}
	if mean, err := merged.MeanGraph(); err == nil && mean != r.Graph {
		d.Found.place(mean)
	}
	for _, p := range r.Places {
		label := ""
		if p.Core >= 0 {
			label = fmt.Sprint("core ", p.Core)
		}
		d.Found.Labels = append(d.Found.Labels, label)
	}
	at := d.Found.arcIndex()
	for _, s := range r.Sizes {
		own := sizeData{Bytes: s.Bytes, Arcs: []int{}, Latency: []figure{}}
		for _, a := range s.Arcs {
			if i, ok := at[[2]int{a.From, a.To}]; ok {
				own.Arcs, own.Latency = append(own.Arcs, i), append(own.Latency, figure(a.Latency))
			}
		}
		d.Sizes = append(d.Sizes, own)
	}
	if s := r.Specification; s != nil {
		d.Spec = s.data()
	}
	if r.Latencies != nil {
		d.Heat = newHeatData(r.Latencies, h, cmp.Or(r.Source, "given"))
	}
	return d
}

// newGraphData lays a graph out and lists its arcs, of too many the likeliest, then those of the least latency.
func newGraphData(g *topology.Graph) *graphData {
	d := &graphData{Hosts: g.Hosts(), Names: g.Names(), Arcs: []arcData{}, LeftOut: max(0, g.NumArcs()-maxArcs)}
	d.place(g)
	arcs := g.Arcs()
	if d.LeftOut > 0 {
		arcs = slices.SortedStableFunc(slices.Values(arcs), func(a, b topology.Arc) int {
			return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Latency, b.Latency),
				min(a.From, a.To)-min(b.From, b.To), max(a.From, a.To)-max(b.From, b.To))
		})[:maxArcs]
	}
	for _, a := range arcs {
		own := arcData{From: a.From, To: a.To, Latency: figure(a.Latency), Bandwidth: figure(a.Bandwidth), Likely: figure(a.Probability), Estimated: a.Estimated}
		own.Specified, own.Measured = figure(math.NaN()), figure(math.NaN())
		if a.Probability == 1 {
			own.Likely = own.Specified
		}
		d.Arcs = append(d.Arcs, own)
	}
	return d
}

// arcIndex has the numbers of the arcs by their ends.
func (d *graphData) arcIndex() map[[2]int]int {
	at := make(map[[2]int]int, len(d.Arcs))
	for i, a := range d.Arcs {
		at[[2]int{a.From, a.To}] = i
	}
	return at
}

// place puts the vertices where the layout of a graph has them, none farther from the middle than placeScale.
func (d *graphData) place(g *topology.Graph) {
	at := Layout(g)
	radius := 1e-9
	for _, x := range at {
		radius = max(radius, r3.Norm(x))
	}
	d.Flat, d.Places = isFlat(at), []int{}
	for _, x := range at {
		for _, coordinate := range []float64{x.X, x.Y, x.Z} {
			d.Places = append(d.Places, int(math.Round(coordinate/radius*placeScale)))
		}
	}
}

// data is the specification's graph with what was measured on its arcs.
func (s *Specification) data() *graphData {
	d := newGraphData(s.Graph)
	at := d.arcIndex()
	for _, l := range s.Links {
		for _, ends := range [][2]int{{l.U, l.V}, {l.V, l.U}} {
			if i, ok := at[ends]; ok {
				d.Arcs[i].Specified, d.Arcs[i].Measured = figure(l.Specified), figure(l.Measured)
				if l.Unused {
					d.Arcs[i].Measured = -1
				}
			}
		}
	}
	return d
}

// groupsOf lists the groups with their names. first is where the hosts of each begin in the order.
func groupsOf(h *topology.Hierarchy, first []int, names []string) []groupData {
	groups := make([]groupData, len(first))
	for i := range groups {
		g := &h.Groups()[i]
		box := false
		if i > 0 {
			kind := h.Levels()[g.Level].Kind
			box = kind == topology.KindHost || kind == topology.KindSocket
		}
		groups[i] = groupData{
			Parent: g.Parent, Level: g.Level, Name: names[i], Hosts: len(g.Hosts), First: first[i],
			Latency: figure(g.Latency), Confidence: figure(g.Confidence), Uncertain: !g.Confident(), Box: box,
		}
	}
	return groups
}

// heatData is a heat map in the page's data. Cells are two bytes each, little endian, row by row: 1 and the step of the latency
// on the logarithmic scale from Low to High, and 0 for what is not known.
type heatData struct {
	Note  string `json:"note"`
	Side  int    `json:"side"`  // cells in a row
	Block int    `json:"block"` // hosts in a cell
	Low   figure `json:"low"`   // s, the least
	Cut   figure `json:"cut"`   // s; all above have the last colour
	High  figure `json:"high"`  // s, the greatest
	Cells string `json:"cells"` // base 64
}

// heatSteps are as many as cells tell apart: latencies of a ratio of 1,000 to 0.01 %.
const heatSteps = 65534

// newHeatData makes the heat map of latencies in s, nil if none is above 0. source says where they come from.
func newHeatData(latencies mat.Matrix, h *topology.Hierarchy, source string) *heatData {
	t, err := newHeat(latencies, h, usualPercentile)
	if err != nil {
		return nil
	}
	packed := make([]byte, 0, 2*len(t.cells))
	for _, v := range t.cells {
		step := 0
		if !math.IsNaN(v) {
			step = 1 + t.step(v, t.high, heatSteps)
		}
		packed = binary.LittleEndian.AppendUint16(packed, uint16(step))
	}
	return &heatData{
		Note: source + ". " + strings.Join(t.notes, " "),
		Side: t.side, Block: t.block, Low: figure(t.low), Cut: figure(t.cut), High: figure(t.high), Cells: base64.StdEncoding.EncodeToString(packed),
	}
}
