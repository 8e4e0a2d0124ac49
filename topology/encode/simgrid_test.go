package encode

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// simGridGraphs are a graph for each way in which routes are written.
func simGridGraphs(t testing.TB) map[string]*topology.Graph {
	graphs := map[string]*topology.Graph{}
	for name, spec := range map[string]string{
		"nested zones":           "tree:2x2x3 latency=30us,12us,5us rate=1Gbps spread=20% seed=3",
		"one large zone":         "star:100",
		"switches in a circle":   "ring:6 hosts=2 spread=20%",
		"hosts in a circle":      "ring:5 spread=20%",
		"trees around a circle":  "core:2 socket:2 host:3",
		"more pairs than routes": "torus:17x17",
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		graphs[name] = c.Graph
	}
	chain := topology.AppendLink(nil, 0, 2, 1e-6, 1e9)
	for v := range 70 {
		chain = topology.AppendLink(chain, v+2, v+3, 1e-6, 1e9)
	}
	deep, err := topology.NewGraph(2, 71, nil, topology.AppendLink(chain, 1, 72, 1e-6, 1e9))
	if err != nil {
		t.Fatal(err)
	}
	graphs["a long chain"] = deep
	graphs["one host"] = smallGraphs(t)["one host"]
	graphs["no links"] = smallGraphs(t)["no links"]

	// Unlike ways, one way, names that are shared or odd, and no way back from one switch.
	arcs := topology.AppendLink(nil, 0, 3, 1.25e-6, 1.25e9)
	arcs = topology.AppendLink(arcs, 1, 3, 1e-6/3, 1e9)
	arcs = topology.AppendLink(arcs, 2, 4, 2e-6, 1e9)
	arcs[3].Latency, arcs[3].Bandwidth = 7e-6, 1e8
	arcs = append(arcs,
		topology.Arc{From: 3, To: 4, Latency: 2e-6, Bandwidth: 1e9, Probability: 1},
		topology.Arc{From: 4, To: 5, Latency: 2e-6, Bandwidth: 1e9, Probability: 1},
		topology.Arc{From: 5, To: 3, Latency: 4e-6, Bandwidth: 1e9, Probability: 1})
	odd, err := topology.NewGraph(3, 3, []string{"node1", "node1", `a "b" <c> & ü`, "sw", "zone sw", "sw2"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	graphs["odd"] = odd
	return graphs
}

// lines lists names and links of a graph in an order that does not depend on numbers.
func lines(g *topology.Graph) string {
	var hosts, switches, links []string
	for v := range g.Vertices() {
		if g.IsSwitch(v) {
			switches = append(switches, g.Name(v))
		} else {
			hosts = append(hosts, g.Name(v))
		}
	}
	for _, a := range g.Arcs() {
		ends := []string{g.Name(a.From), g.Name(a.To)}
		switch back := g.ArcIndex(a.To, a.From); {
		case back < 0 || !sameValues(a, g.Arcs()[back]):
			links = append(links, strings.Join(ends, ">")+values(a))
		case a.From < a.To:
			slices.Sort(ends)
			links = append(links, strings.Join(ends, "-")+values(a))
		}
	}
	slices.Sort(hosts)
	slices.Sort(switches)
	slices.Sort(links)
	return fmt.Sprintf("%q | %q %q", hosts, switches, links)
}

func TestSimGridRoundTrip(t *testing.T) {
	for name, g := range simGridGraphs(t) {
		var b bytes.Buffer
		if err := WriteSimGrid(&b, g, topology.ChooseLowest); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		again, _, err := ReadSimGrid(&b, nil)
		if err != nil {
			t.Fatalf("%s: %v of\n%s", name, err, text)
		}
		if got, want := lines(again), lines(g); got != want {
			t.Errorf("%s: read back\n%s\nwant\n%s\nfile\n%s", name, got, want, text)
		}
	}
}

// Of a machine of many hosts, and of a tree of many switches, the file grows with its links.
func TestSimGridSize(t *testing.T) {
	for _, spec := range []string{"star:100", "tree:10x10x2"} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteSimGrid(&b, c.Graph, topology.ChooseLowest); err != nil {
			t.Fatal(err)
		}
		if most := 500 * c.Graph.NumArcs() / 2; b.Len() > most {
			t.Errorf("%s: %d bytes of %d links, want at most %d", spec, b.Len(), c.Graph.NumArcs()/2, most)
		}
	}
}

// In a circle each link is on as many routes one way as the other.
func TestSimGridWays(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSimGrid(&b, simGridGraphs(t)["hosts in a circle"], topology.ChooseLowest); err != nil {
		t.Fatal(err)
	}
	up, down := strings.Count(b.String(), `direction="UP"`), strings.Count(b.String(), `direction="DOWN"`)
	if up == 0 || up != down {
		t.Errorf("%d links up, %d down in\n%s", up, down, b.String())
	}
}

func TestWriteSimGridRefuses(t *testing.T) {
	mesh, err := gen.Parse("torus:17x17 spread=20%")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		g    *topology.Graph
		want string
	}{
		"an unknown bandwidth": {oddGraph(t), "link node1 to node1: its latency or bandwidth is not known"},
		"no hosts":             {smallGraphs(t)["none"], "no hosts"},
		"detours":              {mesh.Graph, "289 switches: SimGrid looks for the fewest links"},
	} {
		if err := WriteSimGrid(io.Discard, c.g, topology.ChooseLowest); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// simGridFile is a platform around a text.
func simGridFile(inside string) string {
	return `<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">` + inside + `</platform>`
}

// simGridCluster is a platform of one cluster of the given wiring.
func simGridCluster(wiring, parameters, radical string) string {
	return simGridFile(fmt.Sprintf(`<zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="%s" speed="1Gf" bw="125MBps" lat="50us" topology="%s" topo_parameters="%s"/></zone>`,
		radical, wiring, parameters))
}

// Fat trees and tori have the links that the generator of tests makes of the same numbers. The first of each is SimGrid's own example.
// SimGrid's first dimension of a torus runs fastest, the generator's last.
func TestReadSimGridWirings(t *testing.T) {
	for _, c := range []struct{ wiring, parameters, radical, spec string }{
		{"FAT_TREE", "2;4,4;1,2;1,2", "0-15", "fattree:4,4;1,2;1,2"},
		{"FAT_TREE", "3;2,3,2;1,2,3;1,2,1", "0-11", "fattree:2,3,2;1,2,3;1,2,1"},
		{"FAT_TREE", "1;5;2;3", "7-11", "fattree:5;2;3"},
		{"TORUS", "3,2,2", "0-11", "torus:2x2x3"},
		{"TORUS", "5,4", "0-19", "torus:4x5"},
		{"TORUS", "6", "0-5", "ring:6"},
		{"TORUS", "1,2", "0-1", "line:2"},
	} {
		got, _, err := ReadSimGrid(strings.NewReader(simGridCluster(c.wiring, c.parameters, c.radical)), nil)
		if err != nil {
			t.Errorf("%s %s: %v", c.wiring, c.parameters, err)
			continue
		}
		want, err := gen.Parse(c.spec + " latency=50us rate=125MBps")
		if err != nil {
			t.Fatal(err)
		}
		if g := want.Graph; got.Hosts() != g.Hosts() || got.Vertices() != g.Vertices() || !slices.Equal(got.Arcs(), g.Arcs()) {
			t.Errorf("%s %s: %d hosts, %d vertices, arcs\n%v\nwant %d, %d\n%v", c.wiring, c.parameters, got.Hosts(), got.Vertices(), got.Arcs(), g.Hosts(), g.Vertices(), g.Arcs())
		}
	}
}

// The links of SimGrid's example of a dragonfly: 120 of hosts; in each of 3 groups, 10 between the 5 routers of each of 4 chassis and 6
// between these chassis for each of 5 places, of 3 cables; and 3 between groups, of 4 cables.
func TestReadSimGridDragonfly(t *testing.T) {
	g, _, err := ReadSimGrid(strings.NewReader(simGridCluster("DRAGONFLY", "3,4;4,3;5,1;2", "0-119")), nil)
	if err != nil {
		t.Fatal(err)
	}
	count := map[float64]int{} // by cables
	for _, a := range g.Arcs() {
		count[a.Bandwidth/125e6]++
	}
	want := map[float64]int{1: 2 * (120 + 3*4*10), 3: 2 * 3 * 6 * 5, 4: 2 * 3}
	if g.Hosts() != 120 || g.Vertices() != 180 || !maps.Equal(count, want) {
		t.Errorf("%d hosts, %d vertices, arcs by cables %v; want 120, 180, %v", g.Hosts(), g.Vertices(), count, want)
	}
}

func TestReadSimGrid(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{
			"units", `<zone id="z" routing="Floyd"><prop id="a" value="b"/><host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><router id="r"/>
<link id="a" bandwidth="1.25GBps" latency="10us"/><link id="b" bandwidth="100Mbps" latency="0.5ms"/><link id="c" bandwidth="1MiBps"/>
<route src="h0" dst="r"><link_ctn id="a"/></route><route src="h1" dst="r" symmetrical="NO"><link_ctn id="b"/></route><route src="r" dst="h1" symmetrical="NO"><link_ctn id="c"/></route>
<route src="h0" dst="h0"><link_ctn id="a"/></route></zone>`, // the loopback
			"h0 h1 |r ; h0-r 10 10; h1>r 500 0.1; r>h1 0 0.008389",
		},
		{"zones", `<zone id="w" routing="Full"><zone id="z0" routing="None"><host id="h0" speed="1Gf"/></zone><zone id="z1" routing="None"><host id="h1" speed="1Gf"/></zone>
<link id="a" bandwidth="1GBps" latency="1e-6"/><zoneRoute src="z0" dst="z1" gw_src="h0" gw_dst="h1"><link_ctn id="a" direction="NONE"/></zoneRoute></zone>`, "h0 h1 ; h0-h1 1 8"},
		{
			"a cluster", `<zone id="w" routing="Full"><cluster id="c" prefix="n" suffix=".x" radical="0-1,5" speed="1Gf" bw="1GBps" lat="10us" bb_bw="2GBps" bb_lat="4us" router_id="r"/></zone>`,
			"n0.x n1.x n5.x |r r backbone ; n0.x-r backbone 12 8; n1.x-r backbone 12 8; n5.x-r backbone 12 8; r-r backbone 2 16",
		},
		{
			"cabinets", `<zone id="z" routing="Cluster"><router id="r"/><cabinet id="a" prefix="n" suffix=".x" radical="1-2" speed="1Gf" bw="1GBps" lat="10us"/>
<cabinet id="b" prefix="m" suffix="" radical="1" speed="1Gf" bw="2GBps" lat="10us"/><backbone id="bb" bandwidth="2GBps" latency="4us"/></zone>`,
			"n1.x n2.x m1 |r r backbone ; n1.x-r backbone 12 8; n2.x-r backbone 12 8; m1-r backbone 12 16; r-r backbone 2 16",
		},
		{ // two groups of one chassis of two routers: router 1 of group 0 leads to group 1, router 0 of group 1 to group 0
			"a dragonfly", `<zone id="w" routing="Full"><cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" topology="DRAGONFLY" topo_parameters="2,4 ; 1,3 ; 2,2 ; 1"/></zone>`,
			"n0 n1 n2 n3 |c-0.0.0 c-0.0.1 c-1.0.0 c-1.0.1 ; n0-c-0.0.0 1 8; n1-c-0.0.1 1 8; n2-c-1.0.0 1 8; n3-c-1.0.1 1 8; c-0.0.0-c-0.0.1 1 16; c-0.0.1-c-1.0.0 1 32; c-1.0.0-c-1.0.1 1 16",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _, err := ReadSimGrid(strings.NewReader(simGridFile(c.file)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadSimGridRefuses(t *testing.T) {
	zone := func(inside string) string { return simGridFile(`<zone id="z" routing="Full">` + inside + "</zone>") }
	two := `<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><link id="l" bandwidth="1GBps" latency="1us"/><link id="m" bandwidth="1GBps" latency="1us"/>`
	for _, c := range []struct{ name, file, want string }{
		{"an empty file", "", "encode: SimGrid: EOF"},
		{"another root", "<html/>", "expected element type <platform> but have <html>"},
		{"an old version", `<platform version="3"></platform>`, `version "3": want 4 or 4.1`},
		{"a host outside of zones", simGridFile(`<host id="a" speed="1Gf"/>`), "element <host>: want it in a zone"},
		{"a deployment", simGridFile(`<actor host="a" function="f"/><process host="b" function="f"/>`), "no host is in it: want the platform, not the deployment"},
		{"a peer", zone(`<peer id="p"/>`), `peer "p": its place is told by coordinates, not by links`},
		{"a host twice", zone(two + `<host id="a" speed="1Gf"/>`), `host "a": want an id of its own`},
		{"a link twice", zone(two + `<link id="l" bandwidth="1GBps"/>`), `link "l": is there twice`},
		{"a wireless link", zone(`<link id="w" sharing_policy="WIFI" bandwidth="1GBps"/>`), "wireless"},
		{"no bandwidth", zone(`<link id="w"/>`), `link "w": bandwidth "": want a number and a unit`},
		{"an infinite latency", zone(`<link id="w" bandwidth="1GBps" latency="infs"/>`), `latency "infs": want a number and a unit`},
		{"a bandwidth of 0", zone(two + `<link id="n" bandwidth="0Bps"/><route src="a" dst="b"><link_ctn id="n"/></route>`), "bandwidth 0 B/s: want above 0"},
		{"several links", zone(two + `<route src="a" dst="b"><link_ctn id="l"/><link_ctn id="m"/></route>`), `route "a" to "b": 2 links: want one, or properties`},
		{"a route to nowhere", zone(two + `<route src="a" dst="c"><link_ctn id="l"/></route>`), `there is no vertex "c"`},
		{"an unknown link", zone(two + `<route src="a" dst="b"><link_ctn id="x"/></route>`), `there is no link "x"`},
		{"a wiring of another name", simGridCluster("MESH", "2,2", "0-3"), "topology MESH: want FLAT, FAT_TREE, TORUS or DRAGONFLY"},
		{"a wiring without parameters", simGridCluster("TORUS", "", "0-3"), `topology TORUS, topo_parameters "": want numbers from 1`},
		{"a fat tree without cables", simGridCluster("FAT_TREE", "2;2,2;1,2", "0-3"), "want levels;children;parents;cables"},
		{"a fat tree of other levels", simGridCluster("FAT_TREE", "3;2,2;1,2;1,1", "0-3"), "want levels;children;parents;cables"},
		{"a fat tree of more hosts", simGridCluster("FAT_TREE", "2;2,3;1,2;1,1", "0-3"), "want as many hosts as radical has, 4"},
		{"a torus of fewer hosts", simGridCluster("TORUS", "2,1", "0-3"), "want as many hosts as radical has, 4"},
		{"a torus with semicolons", simGridCluster("TORUS", "2;2", "0-3"), "want the sizes of the dimensions"},
		{"a dragonfly of numbers alone", simGridCluster("DRAGONFLY", "2;1;2;1", "0-3"), "want groups,cables;chassis,cables;routers,cables;hosts"},
		{"a dragonfly of too many groups", simGridCluster("DRAGONFLY", "2,1;2,1;1,1;1", "0-3"), "2 groups: want at most as many as routers in a chassis, 1"},
		{"a dragonfly of too many links", simGridCluster("DRAGONFLY", "1,1;1,1;2048,1;1", "0-2047"), "more than 1048576 links"},
		{"a fat tree of too many links", simGridCluster("FAT_TREE", "2;1,1;1048576,1048576;1,1", "0"), "more than 1048576 links"},
		{"a huge cluster", simGridFile(`<cluster id="c" radical="0-4000000000" bw="1GBps" lat="1us"/>`), `radical "0-4000000000": want ascending`},
		{"zones without end", simGridFile(strings.Repeat("<zone>", 60) + strings.Repeat("</zone>", 60)), "elements nest more than 50 deep"},
		{"entities", billionLaughs + `<platform version="&c;"/>`, "invalid character entity &c;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadSimGrid(strings.NewReader(c.file), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ReadSimGrid = %v, want one line with %q", err, c.want)
			}
		})
	}
}

func FuzzReadSimGrid(f *testing.F) {
	f.Add(simGridFile(`<zone id="z" routing="Floyd"><host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><link id="a" bandwidth="1.25GBps" latency="10us"/><route src="h0" dst="h1"><link_ctn id="a"/></route></zone>`))
	f.Add(simGridFile(`<zone id="w"><zone id="z0"><cluster id="c" prefix="n" radical="0-2" bw="1Gbps" lat="1ms" bb_bw="2GBps" router_id="r"/></zone><router id="s"/><link id="l" bandwidth="1" latency="1" sharing_policy="SPLITDUPLEX"><prop id="from" value="r"/><prop id="to" value="s"/></link></zone>`))
	f.Add(simGridCluster("FAT_TREE", "2;2,2;1,2;1,2", "0-3"))
	f.Add(simGridCluster("DRAGONFLY", "2,1;1,1;2,1;1", "0-3"))
	f.Fuzz(func(t *testing.T, file string) {
		g, _, err := ReadSimGrid(strings.NewReader(file), nil)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteSimGrid(&b, g, topology.ChooseLowest); err != nil {
			return
		}
		again, _, err := ReadSimGrid(&b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lines(again), lines(g); got != want {
			t.Errorf("read back %s\nwant %s", got, want)
		}
	})
}

// Older platforms call their zones AS, and the hosts of a zone may have a host_link each to its router or its own switch. By hand: the
// latency of both links of hosts and of the backbone between them.
func TestReadOlderSimGrid(t *testing.T) {
	const links = `<link id="l0" bandwidth="125MBps" latency="100us" sharing_policy="SPLITDUPLEX"/><link id="up" bandwidth="1GBps" latency="20us"/><link id="down" bandwidth="2GBps" latency="30us"/>
<host_link id="n0" up="l0_UP" down="l0_DOWN"/><host_link id="n1" up="up" down="down"/>`
	for _, c := range []struct {
		name, body  string
		there, back float64 // s, between the first two hosts
	}{
		{
			"AS of a cluster", `<AS id="AS0" routing="Full"><cluster id="c" prefix="node-" suffix="" radical="0-3" speed="1Gf" bw="125MBps" lat="50us" bb_bw="2.25GBps" bb_lat="500us"/></AS>`,
			600e-6, 600e-6,
		},
		{
			"links of hosts", `<zone id="z" routing="Cluster"><host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/>` + links + `</zone>`,
			130e-6, 120e-6,
		},
		{
			"links of hosts, a router and a backbone", `<zone id="z" routing="Cluster"><host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><router id="r"/><backbone id="bb" bandwidth="2.25GBps" latency="500us"/>` + links + `</zone>`,
			630e-6, 620e-6,
		},
		{
			"routes between AS", `<AS id="w" routing="Full"><AS id="a" routing="Full"><host id="h0" speed="1Gf"/></AS><AS id="b" routing="Full"><host id="h1" speed="1Gf"/></AS>
<link id="l" bandwidth="1GBps" latency="7us"/><ASroute src="a" dst="b" gw_src="h0" gw_dst="h1"><link_ctn id="l"/></ASroute></AS>`,
			7e-6, 7e-6,
		},
	} {
		g, _, err := ReadSimGrid(strings.NewReader(`<?xml version="1.0"?><platform version="4">`+c.body+`</platform>`), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d := g.HostDistances()
		if math.Abs(d[1]-c.there) > 1e-12 || math.Abs(d[g.Hosts()]-c.back) > 1e-12 {
			t.Errorf("%s: %g s there and %g s back, want %g and %g", c.name, d[1], d[g.Hosts()], c.there, c.back)
		}
	}
	const lost = `<platform version="4"><zone id="z"><host id="n0"/><host_link id="n0" up="x" down="x"/></zone></platform>`
	if _, _, err := ReadSimGrid(strings.NewReader(lost), nil); err == nil || !strings.Contains(err.Error(), `host_link of "n0": there is no link "x"`) {
		t.Errorf("a link that is not there: %v", err)
	}
}
