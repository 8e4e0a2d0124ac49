package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// The numbers that ibnetdiscover prints of a node begin with those of a vendor. This one is Mellanox's, which tools know.
const (
	ibVendor     = 0x2c9
	ibSwitchGUID = 0x0002c90300100000 // and the number of the vertex
	ibCardGUID   = 0x0002c90300200000 // and sixteen times the number of the vertex; that of its ports follows
)

// ibRates are the usual widths and speeds of cables, ascending.
var ibRates = []struct {
	lanes int
	speed string
}{{1, "SDR"}, {4, "SDR"}, {4, "DDR"}, {4, "QDR"}, {4, "FDR10"}, {4, "FDR"}, {4, "EDR"}, {4, "HDR"}, {4, "NDR"}, {4, "XDR"}, {8, "XDR"}, {12, "XDR"}}

// WriteIbnetdiscover writes a graph as ibnetdiscover(8) prints an InfiniBand fabric: switches and cards with their ports, and each cable at
// both of its ends. GUIDs and LIDs follow from the numbers of the vertices. The rate of a cable is the least of InfiniBand that is not below
// the bandwidth of the link, up to 0.1 %: what is measured is below what a cable can. Links of unknown bandwidth have no rate.
//
// It refuses names that are not there once, or would not be read back: [ReadIbnetdiscover] takes the first word. Latencies are left out.
func WriteIbnetdiscover(w io.Writer, g *topology.Graph) (err error) {
	defer naming("ibnetdiscover", &err)
	b := bufio.NewWriter(w)
	b.WriteString("#\n# Topology file: written by topocast\n#\n")
	seen := map[string]bool{}
	for v := range g.Vertices() {
		if name := g.Name(v); name == "" || seen[name] || strings.ContainsAny(name, "\" \t\r\n") {
			return fmt.Errorf("vertex %d: name %q: want names of one word that differ", v, name)
		}
		seen[g.Name(v)] = true
	}
	neighbours, port := ibNeighbours(g)
	for v := g.Vertices() - 1; v >= 0; v-- { // switches first, as ibnetdiscover has them
		kind, guid, about := ibAbout(g, v)
		fmt.Fprintf(b, "\nvendid=%#x\n", ibVendor)
		if g.IsSwitch(v) {
			fmt.Fprintf(b, "switchguid=%#x(%x)\nSwitch\t%d \"S-%016x\"\t\t# %s base port 0 lid %d lmc 0\n", guid, guid, len(neighbours[v]), guid, about, v+1)
		} else {
			fmt.Fprintf(b, "caguid=%#x\nCa\t%d \"H-%016x\"\t\t# %s\n", guid, len(neighbours[v]), guid, about)
		}
		for i, u := range neighbours[v] {
			rate, err := ibRate(g, v, u)
			if err != nil {
				return fmt.Errorf("link from %s to %s: %w", g.Name(v), g.Name(u), err)
			}
			otherKind, otherGUID, otherAbout := ibAbout(g, u)
			otherPort := port[[2]int{u, v}]
			own, other, lid := "", "", ""
			if kind == "H" { // ports of cards have GUIDs
				own, lid = fmt.Sprintf("(%x) ", guid+int64(i)+1), fmt.Sprintf("lid %d lmc 0 ", v+1)
			}
			if otherKind == "H" {
				other = fmt.Sprintf("(%x) ", otherGUID+int64(otherPort))
			}
			fmt.Fprintf(b, "[%d]%s\t\"%s-%016x\"[%d]%s\t\t# %s%s lid %d%s\n", i+1, own, otherKind, otherGUID, otherPort, other, lid, otherAbout, u+1, rate)
		}
	}
	return b.Flush() // the first error of all
}

// ibAbout returns the letter of a vertex's kind, its GUID and its description.
func ibAbout(g *topology.Graph, v int) (kind string, guid int64, about string) {
	if g.IsSwitch(v) {
		return "S", ibSwitchGUID + int64(v), strconv.Quote(g.Name(v))
	}
	return "H", ibCardGUID + 16*int64(v), strconv.Quote(g.Name(v) + " HCA-1")
}

// ibNeighbours returns the vertices at the ports of each, and the port, counted from 1, by which the first of a pair is linked to the second.
func ibNeighbours(g *topology.Graph) (neighbours [][]int, port map[[2]int]int) {
	neighbours, port = make([][]int, g.Vertices()), map[[2]int]int{}
	for _, a := range g.Arcs() {
		for _, end := range [][2]int{{a.From, a.To}, {a.To, a.From}} {
			if port[end] == 0 {
				neighbours[end[0]] = append(neighbours[end[0]], end[1])
				port[end] = len(neighbours[end[0]])
			}
		}
	}
	return neighbours, port
}

// ibRate returns the rate of a link as ibnetdiscover writes it, after a blank; that of the faster direction.
func ibRate(g *topology.Graph, v, u int) (string, error) {
	bandwidth := math.NaN()
	for _, end := range [][2]int{{v, u}, {u, v}} {
		if i := g.ArcIndex(end[0], end[1]); i >= 0 && !(g.Arcs()[i].Bandwidth < bandwidth) {
			bandwidth = g.Arcs()[i].Bandwidth
		}
	}
	if math.IsNaN(bandwidth) {
		return "", nil
	}
	for _, r := range ibRates {
		if float64(r.lanes)*laneRates[r.speed]*1e9/8 >= 0.999*bandwidth {
			return fmt.Sprintf(" %dx%s", r.lanes, r.speed), nil
		}
	}
	return "", fmt.Errorf("%.3g B/s: InfiniBand has no such rate", bandwidth)
}
