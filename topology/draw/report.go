package draw

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// A Report is what WriteReport makes a page of. Only Graph is needed.
type Report struct {
	Noun      string              // what the hosts of the graph are: host, rank, core; "": host
	Graph     *topology.Graph     // the wiring
	Hierarchy *topology.Hierarchy // of the same hosts, uncertain groups included; nil: none
	Places    []Place             // of the hosts, where these are cores of greater hosts; nil: not known

	Latencies mat.Matrix // between hosts in s, NaN: not measured; nil: no pictures of pairs
	Source    string     // where Latencies come from: "measured with 8 B"
	Bytes     int64      // size of the messages of Latencies and of the levels' latencies
	// Sizes are the topologies of single message sizes that Graph was merged of, sizes ascending.
	Sizes   []topology.LocalTopology
	Figures []*Figure // such as the bandwidth over the size of messages

	Specification *Specification // what the machine should be; nil: not compared
	Suspects      []Suspect      // hosts and links to look at, the worst first; nil without Specification: those that Text marks as slow
	Warnings      []string
	Tables        []Table // what follows from the network, such as its broadcasts
	How           []Table // how it was measured: names and values, without a head
}

// A Table has a line of names above its rows.
type Table struct {
	Title string
	Note  string   // below the title
	Head  []string // names of the columns; nil: each row is a name and a value
	Rows  [][]string
}

// A Suspect is something to look at.
type Suspect struct {
	Name   string
	Reason string
	Hosts  []int // of Report.Graph
	// Uplink says that the link which leads up from the hosts is to blame. It is marked in the picture, and the
	// hosts are not.
	Uplink bool
}

// A Specification is the machine as it should be, with what was measured on its links. It is
// drawn as Bannikov and Salnikov 2014, section 2.3, do: white what nothing takes, red what
// is at least as fast as specified, blue what is slower, the more saturated the greater
// the difference.
type Specification struct {
	Name  string
	Graph *topology.Graph
	Links []SpecifiedLink
}

// A SpecifiedLink is a link of the specification.
type SpecifiedLink struct {
	U, V      int     // vertices of Specification.Graph
	Unused    bool    // nothing that was measured takes it
	Specified float64 // s; NaN: not known
	Measured  float64 // s; NaN: not known
}

var (
	//go:embed report/page.html
	pageText     string
	pageTemplate = template.Must(template.New("report").Parse(pageText))
	//go:embed report/page.css
	pageStyle string
	//go:embed report/wiring.js
	wiringScript string
	//go:embed report/view.js
	viewScript string
	//go:embed report/controls.js
	controlsScript string
	//go:embed report/tables.js
	tablesScript string
)

// WriteReport writes one HTML page with all that a person may want to know of a
// machine: the wiring to turn and zoom, latencies of all
// pairs, the groups, and how it was measured. The page needs no network
// and refuses to use one: its policy allows its own script and style alone, by
// their hashes, and pictures that it carries. What comes from outside, such as names, is text and data in it, never script.
//
// The same report gives the same bytes. It takes O(n^2) for n hosts with Latencies. Of
// more than 1,024 hosts the heat map shows medians of blocks, and of more than 20,000 links
// the likeliest and fastest are drawn; the page says so.
func WriteReport(w io.Writer, r *Report) error {
	if err := r.validate(); err != nil {
		return err
	}
	page, err := r.page()
	if err == nil {
		err = pageTemplate.Execute(w, page)
	}
	if err != nil {
		return fmt.Errorf("draw: report: %w", err)
	}
	return nil
}

// page is what the template is filled with.
type page struct {
	Report        *Report
	Title         string
	Doubts        string // a sentence
	Tiles         []tile
	Levels        []LevelRow
	Size          string   // of the messages of their latencies
	Uncertain     []string // groups, the first of them
	MoreUncertain int
	Script        template.JS
	Style         template.CSS
	Policy        string
	Data          *pageData
	Pictures      []picture
}

// A tile is a number with what it is.
type tile struct{ Value, Name string }

// A picture is a figure in the page.
type picture struct {
	Title string
	Data  template.URL
}

// maxUncertain bounds the list of uncertain groups; the table has them all.
const maxUncertain = 10

func (r *Report) page() (*page, error) {
	own := *r
	if r.Suspects == nil && r.Specification == nil {
		own.Suspects = r.slowLinks()
	}
	h := own.hierarchy()
	p := &page{
		Report: &own, Title: "Network of " + words.Count(h.Hosts(), own.noun()), Tiles: own.tiles(), Levels: Levels(h), Size: quantity.Bytes(own.Bytes), Data: own.data(),
		Script: template.JS(wiringScript + viewScript + controlsScript + tablesScript), Style: template.CSS(pageStyle),
	}
	for _, g := range p.Data.Groups {
		if g.Uncertain {
			p.Uncertain = append(p.Uncertain, fmt.Sprintf("%s (%s), confidence %.2f", g.Name, words.Count(g.Hosts, own.noun()), g.Confidence))
		}
	}
	p.Doubts = own.doubts(len(p.Uncertain), len(h.Groups())-1)
	if p.MoreUncertain = len(p.Uncertain) - maxUncertain; p.MoreUncertain > 0 {
		p.Uncertain = p.Uncertain[:maxUncertain]
	}
	p.Policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		hashOf(string(p.Script)), hashOf(string(p.Style)))
	var err error
	p.Pictures, err = own.pictures(p.Data.Heat != nil)
	return p, err
}

// doubts is a sentence on what is uncertain or suspicious.
func (r *Report) doubts(uncertain, groups int) string {
	var parts []string
	if len(r.Suspects) > 0 {
		parts = append(parts, fmt.Sprintf("%s to look at, first %s", words.Count(len(r.Suspects), "suspect"), r.Suspects[0].Name))
	}
	if uncertain > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s uncertain: the measurements do not show them clearly", uncertain, words.Count(groups, "group")))
	}
	if len(r.Warnings) > 0 {
		parts = append(parts, words.Count(len(r.Warnings), "warning"))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "; ") + "."
	case r.Specification != nil:
		return "Nothing differs from the specification, and nothing is uncertain."
	}
	return "No warnings, and no uncertain groups."
}

func (r *Report) tiles() []tile {
	g := r.Graph
	tiles := []tile{numberTile(g.Hosts(), r.noun()), numberTile(g.Vertices()-g.Hosts(), "switch"), numberTile(len(g.Channels()), "link")}
	rates := emptySpan()
	for _, a := range g.Arcs() {
		if !math.IsNaN(a.Bandwidth) {
			rates.add(a.Bandwidth)
		}
	}
	if rates.low <= rates.high {
		tiles = append(tiles, tile{rates.text(quantity.Rate, " – "), "bandwidth of links"})
	}
	return tiles
}

// numberTile is a number of things, as people read it: 5,024.
func numberTile(n int, thing string) tile {
	_, things, _ := strings.Cut(words.Count(n, thing), " ")
	return tile{humanize.Comma(int64(n)), things}
}

// pictures are the figures below the wiring, but for the heat map, which the page's script draws: it tells the pair that
// is pointed at. The latencies are shown if any of them is above 0.
func (r *Report) pictures(latencies bool) (pictures []picture, err error) {
	h := r.hierarchy()
	var figures []*Figure
	if latencies {
		f, err := Histogram("How often each latency occurs", r.Latencies, h)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	if len(h.Groups()) > 1 {
		if f, err := Dendrogram("Groups by latency", h, r.Graph.Names()[:r.Graph.Hosts()]); err == nil { // else no group has a latency
			figures = append(figures, f)
		}
	}
	for _, f := range append(figures, r.Figures...) {
		var svg bytes.Buffer
		if err := f.SVG(&svg); err != nil {
			return nil, err
		}
		pictures = append(pictures, picture{f.title, template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes()))})
	}
	return pictures, nil
}

// hashOf is the name of an inline script or style in a content security policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// validate tells the first of what does not fit together.
func (r *Report) validate() (err error) {
	want := func(fits bool, format string, args ...any) {
		if !fits && err == nil {
			err = fmt.Errorf("draw: report: "+format, args...)
		}
	}
	if r == nil || r.Graph == nil {
		want(false, "no graph given")
		return err
	}
	n := r.Graph.Hosts()
	want(r.hierarchy().Hosts() == n, "%d hosts in the hierarchy, %d in the graph", r.hierarchy().Hosts(), n)
	want(r.Places == nil || len(r.Places) == n, "%s for %s", words.Count(len(r.Places), "place"), words.Count(n, "host"))
	for _, t := range slices.Concat(r.Tables, r.How) {
		columns := len(t.Head)
		if t.Head == nil {
			columns = 2
		}
		for _, row := range t.Rows {
			want(len(row) == columns, "table %q: %d cells for %s", t.Title, len(row), words.Count(columns, "column"))
		}
	}
	if r.Latencies != nil {
		rows, columns := r.Latencies.Dims()
		want(rows == n && columns == n, "%d x %d latencies for %s", rows, columns, words.Count(n, "host"))
	}
	for _, s := range r.Sizes {
		for _, a := range s.Arcs {
			isVertex := min(a.From, a.To) >= 0 && max(a.From, a.To) < r.Graph.Vertices()
			want(isVertex && r.Graph.ArcIndex(a.From, a.To) >= 0, "the topology of %d B has an arc from %d to %d: want arcs of the graph", s.Bytes, a.From, a.To)
		}
	}
	for _, s := range r.Suspects {
		for _, h := range s.Hosts {
			want(h >= 0 && h < n, "suspect %q: host %d: want in [0, %d)", s.Name, h, n)
		}
	}
	if s := r.Specification; s != nil && s.Graph == nil {
		want(false, "the specification has no graph")
	} else if s != nil {
		for _, l := range s.Links {
			want(min(l.U, l.V) >= 0 && max(l.U, l.V) < s.Graph.Vertices(), "specified link %d-%d: want vertices in [0, %d)", l.U, l.V, s.Graph.Vertices())
		}
	}
	return err
}

func (r *Report) noun() string { return cmp.Or(r.Noun, "host") }

// hierarchy is the one given, or the group of all hosts.
func (r *Report) hierarchy() *topology.Hierarchy {
	if r.Hierarchy != nil {
		return r.Hierarchy
	}
	return flatHierarchy(r.Graph.Hosts())
}
