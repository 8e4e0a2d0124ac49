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

// A figure is a number in the page: five digits, null if it is not known.
type figure float64

// MarshalJSON writes what the page's script reads.
func (f figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(f), 'g', 5, 64), nil
}

// pageData is what the page's script draws from. Lists, not objects, where there are many: 5,000 hosts
// are to stay below ten megabytes.
type pageData struct {
	Noun     string        `json:"noun"`
	Source   string        `json:"source"` // of Heat and Times
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
	Hosts     int      `json:"hosts"`
	Names     []string `json:"names"`
	Labels    []string `json:"labels,omitempty"` // of hosts, beside their dots; "" or left out: the name
	Flat      bool     `json:"flat,omitempty"`   // all places are in one plane, which is looked at from the front
	Places    []int    `json:"places"`           // x, y, z of each vertex; placeScale is the radius of all
	From      []int    `json:"from"`
	To        []int    `json:"to"`
	Latency   []figure `json:"latency"`
	Bandwidth []figure `json:"bandwidth,omitempty"`
	Likely    []figure `json:"likely,omitempty"`    // probabilities; left out if all are 1
	Estimated []int    `json:"estimated,omitempty"` // arcs whose bandwidth was not measured
	LeftOut   int      `json:"leftOut,omitempty"`   // arcs that are not in the page

	// Of a specification, of each arc.
	Specified []figure `json:"specified,omitempty"`
	Measured  []figure `json:"measured,omitempty"` // below 0: nothing takes the arc
}

type groupData struct {
	Parent  int    `json:"parent"`
	Level   int    `json:"level"`
	Name    string `json:"name"`
	Hosts   int    `json:"hosts"`
	First   int    `json:"first"` // index into Order of its first host; the others follow
	Latency figure `json:"latency"`
	Support figure `json:"support"`
	Weak    bool   `json:"weak,omitempty"`
	Box     bool   `json:"box,omitempty"` // a host or a socket, drawn as a box around its cores
}

type sizeData struct {
	Bytes   int64    `json:"bytes"`
	Arcs    []int    `json:"arcs"` // of Found
	Latency []figure `json:"latency"`
}

const (
	placeScale = 10_000
	maxArcs    = 40_000 // of a graph in the page: two megabytes, and more than a screen can show
)

func (r *Report) data() *pageData {
	h := r.hierarchy()
	d := &pageData{
		Noun: r.noun(), Source: cmp.Or(r.Source, "given"), Levels: []string{}, Sizes: []sizeData{}, Suspects: r.suspectsData(),
		Order: append([]int{}, groupOrder(h)...), Inside: insideOf(r.Graph, h),
	}
	for l := range len(h.Levels()) + 1 {
		d.Levels = append(d.Levels, h.LevelName(l))
	}
	d.Groups = groupsOf(h, d.Order, r.text().groupNames())
	arcs, leftOut := arcsOf(r.Graph)
	d.Found = newGraphData(r.Graph, arcs)
	merged := topology.Result{Graph: r.Graph, Local: r.Sizes}
	if mean, err := merged.MeanGraph(); err == nil && mean != r.Graph {
		d.Found.place(mean)
	}
	d.Found.LeftOut = leftOut
	for _, p := range r.Places {
		label := ""
		if p.Core >= 0 {
			label = fmt.Sprint("core ", p.Core)
		}
		d.Found.Labels = append(d.Found.Labels, label)
	}
	for _, s := range r.Sizes {
		d.Sizes = append(d.Sizes, sizeOf(s, arcs))
	}
	if s := r.Specification; s != nil {
		d.Spec = s.data()
	}
	if r.Latencies != nil {
		d.Heat = newHeatData(r.Latencies, h, d.Source)
	}
	return d
}

// newGraphData lays a graph out and lists its arcs.
func newGraphData(g *topology.Graph, arcs []topology.Arc) *graphData {
	d := &graphData{Hosts: g.Hosts(), Names: g.Names(), From: []int{}, To: []int{}, Latency: []figure{}}
	d.place(g)
	rates, doubts := false, false
	for i, a := range arcs {
		d.From, d.To, d.Latency = append(d.From, a.From), append(d.To, a.To), append(d.Latency, figure(a.Latency))
		d.Bandwidth, d.Likely = append(d.Bandwidth, figure(a.Bandwidth)), append(d.Likely, figure(a.Probability))
		rates, doubts = rates || !math.IsNaN(a.Bandwidth), doubts || a.Probability < 1
		if a.Estimated {
			d.Estimated = append(d.Estimated, i)
		}
	}
	if !rates {
		d.Bandwidth = nil
	}
	if !doubts {
		d.Likely = nil
	}
	return d
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

// arcsOf are the arcs of a graph, sorted; of too many the likeliest, then those of the least latency.
func arcsOf(g *topology.Graph) (arcs []topology.Arc, leftOut int) {
	arcs = slices.Clone(g.Arcs())
	if leftOut = max(0, len(arcs)-maxArcs); leftOut > 0 {
		slices.SortFunc(arcs, func(a, b topology.Arc) int {
			return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Latency, b.Latency),
				min(a.From, a.To)-min(b.From, b.To), max(a.From, a.To)-max(b.From, b.To), a.From-b.From)
		})
		arcs = arcs[:maxArcs]
		slices.SortFunc(arcs, byEnds)
	}
	return arcs, leftOut
}

func byEnds(a, b topology.Arc) int { return cmp.Or(a.From-b.From, a.To-b.To) }

// sizeOf lists which of the sorted arcs a topology of one size has.
func sizeOf(s topology.LocalTopology, arcs []topology.Arc) sizeData {
	d := sizeData{Bytes: s.Bytes, Arcs: []int{}, Latency: []figure{}}
	for _, a := range s.Arcs {
		if i, ok := slices.BinarySearchFunc(arcs, a, byEnds); ok {
			d.Arcs, d.Latency = append(d.Arcs, i), append(d.Latency, figure(a.Latency))
		}
	}
	return d
}

// data is the specification's graph with what was measured on its arcs.
func (s *Specification) data() *graphData {
	arcs, leftOut := arcsOf(s.Graph)
	d := newGraphData(s.Graph, arcs)
	d.LeftOut = leftOut
	of := map[[2]int]SpecifiedLink{}
	for _, l := range s.Links {
		of[[2]int{min(l.U, l.V), max(l.U, l.V)}] = l
	}
	for _, a := range arcs {
		specified, measured := math.NaN(), math.NaN()
		if l, ok := of[[2]int{min(a.From, a.To), max(a.From, a.To)}]; ok {
			if specified, measured = l.Specified, l.Measured; l.Unused {
				measured = -1
			}
		}
		d.Specified, d.Measured = append(d.Specified, figure(specified)), append(d.Measured, figure(measured))
	}
	return d
}

// groupsOf lists the groups with their names.
func groupsOf(h *topology.Hierarchy, order []int, names []string) []groupData {
	at := make([]int, len(order))
	for i, host := range order {
		at[host] = i
	}
	groups := make([]groupData, len(h.Groups()))
	for i := range groups {
		g := &h.Groups()[i]
		first := len(order)
		for _, host := range g.Hosts {
			first = min(first, at[host])
		}
		box := false
		if i > 0 {
			kind := h.Levels()[g.Level].Kind
			box = kind == topology.KindHost || kind == topology.KindSocket
		}
		groups[i] = groupData{Parent: g.Parent, Level: g.Level, Name: names[i], Hosts: len(g.Hosts), First: first, Latency: figure(g.Latency), Support: figure(g.Support), Weak: !g.Firm(), Box: box}
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
