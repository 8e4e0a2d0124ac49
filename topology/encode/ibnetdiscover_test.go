package encode

import (
	"strings"
	"testing"

	"github.com/topocast/topocast/topology"
)

// Two leaf switches of two hosts each, and a spine with two cables to one leaf and one to the other; one host has two cards. The form is that
// of ibnetdiscover(8): each cable stands at both of its ends. The rates are lanes times the data rate of a lane: 4 x 50 Gbit/s of HDR are 25 GB/s.
const ibFabric = `#
# Topology file: generated on Fri Nov 27 10:00:00 2026
#
vendid=0x2c9
devid=0xd2f0
sysimgguid=0x10
switchguid=0x10(10)
Switch	40 "S-0000000000000010"		# "MF0;leaf-1:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-0000000000000101"[1](102) 		# "n1 HCA-1" lid 11 4xHDR
[2]	"H-0000000000000201"[1](202) 		# "n2 mlx5_0" lid 12 4xHDR
[39]	"S-0000000000000030"[1]		# "spine" lid 3 4xHDR
[40]	"S-0000000000000030"[2]		# "spine" lid 3 4xHDR

vendid=0x2c9
switchguid=0x20(20)
Switch	40 "S-0000000000000020"		# "leaf-2" base port 0 lid 2 lmc 0
[1]	"H-0000000000000301"[1](302) 		# "n3 HCA-1" lid 13 4xEDR
[2]	"H-0000000000000202"[1](203) 		# "n2 mlx5_1" lid 14 1xEDR
[40]	"S-0000000000000030"[3]		# "spine" lid 3 4xHDR

switchguid=0x30(30)
Switch	40 "S-0000000000000030"		# "spine" base port 0 lid 3 lmc 0
[1]	"S-0000000000000010"[39]		# "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR
[2]	"S-0000000000000010"[40]		# "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR
[3]	"S-0000000000000020"[40]		# "leaf-2" lid 2 4xHDR

vendid=0x2c9
caguid=0x101
Ca	1 "H-0000000000000101"		# "n1 HCA-1"
[1](102) 	"S-0000000000000010"[1]		# lid 11 lmc 0 "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR

caguid=0x201
Ca	1 "H-0000000000000201"		# "n2 mlx5_0"
[1](202) 	"S-0000000000000010"[2]		# lid 12 lmc 0 "MF0;leaf-1:MQM8700/U1" lid 1 4xHDR

caguid=0x202
Ca	1 "H-0000000000000202"		# "n2 mlx5_1"
[1](203) 	"S-0000000000000020"[2]		# lid 14 lmc 0 "leaf-2" lid 2 1xEDR
`

func TestReadIbnetdiscover(t *testing.T) {
	if !IsIbnetdiscover([]byte(ibFabric)) || !IsIbnetdiscover([]byte("\n   "+strings.ReplaceAll(ibFabric, "\n", "\n   "))) { // as a manual shows it
		t.Error("not known")
	}
	g, _, err := ReadIbnetdiscover(strings.NewReader(ibFabric), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for v := range g.Vertices() {
		at[g.Name(v)] = v
	}
	if g.Hosts() != 3 || g.Vertices() != 6 {
		t.Fatalf("%d hosts, %d vertices: %v; want n1, n2, n3 and three switches", g.Hosts(), g.Vertices(), at)
	}
	for _, c := range []struct {
		a, b string
		rate float64
	}{
		{"n1", "MF0;leaf-1:MQM8700/U1", 25e9},
		{"n2", "MF0;leaf-1:MQM8700/U1", 25e9},
		{"n2", "leaf-2", 3.125e9},
		{"n3", "leaf-2", 12.5e9}, // only the switch tells of it
		{"spine", "MF0;leaf-1:MQM8700/U1", 50e9},
		{"spine", "leaf-2", 25e9},
	} {
		for _, way := range [][2]int{{at[c.a], at[c.b]}, {at[c.b], at[c.a]}} {
			if i := g.ArcIndex(way[0], way[1]); i < 0 || g.Arcs()[i].Bandwidth != c.rate {
				t.Errorf("%s to %s: arc %d of %v, want %g B/s", g.Name(way[0]), g.Name(way[1]), i, g.Arcs(), c.rate)
			}
		}
	}
	if g.NumArcs() != 12 {
		t.Errorf("%d arcs, want 12", g.NumArcs())
	}
	for _, c := range []struct{ file, want string }{
		{"[1]\t\"S-1\"[1]\n" + ibFabric, "line 1: a port before any switch"},
		{ibFabric + "Ca\t1 \"H-0000000000000202\"\t# \"n2\"\n", "is there twice"},
		{strings.Replace(ibFabric, `[1]	"H-0000000000000101"[1](102)`, "[1] to n1", 1), "line 9: "},
	} {
		if _, _, err := ReadIbnetdiscover(strings.NewReader(c.file), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}

// A switch of HDR and later has a card of its own, which is no host; cards and switches that nobody has named have their maker's description.
func TestIbnetdiscoverTellsHostsFromOthers(t *testing.T) {
	const file = `Switch	41 "S-0010"		# "Quantum Mellanox Technologies" base port 0 lid 1 lmc 0
[1]	"H-0101"[1](101) 		# "MT4123 ConnectX6   Mellanox Technologies" lid 11 4xHDR
[2]	"H-0201"[1](201) 		# "MT4123 ConnectX6   Mellanox Technologies" lid 12 4xHDR
[3]	"H-0301"[1](301) 		# "n3 mlx5_0" lid 13 4xHDR
[40]	"S-0020"[40]		# "Quantum Mellanox Technologies" lid 2 4xHDR
[41]	"H-0018"[1](18) 		# "Mellanox Technologies Aggregation Node" lid 14 4xHDR

Switch	41 "S-0020"		# "Quantum Mellanox Technologies" base port 0 lid 2 lmc 0
[1]	"H-0302"[1](302) 		# "n3 mlx5_1" lid 15 4xHDR
[40]	"S-0010"[40]		# "Quantum Mellanox Technologies" lid 1 4xHDR
[41]	"H-0028"[1](28) 		# "Mellanox Technologies Aggregation Node" lid 16 4xHDR

Ca	1 "H-0018"		# "Mellanox Technologies Aggregation Node"
[1](18) 	"S-0010"[41]		# lid 14 lmc 0 "Quantum Mellanox Technologies" lid 1 4xHDR
`
	g, _, err := ReadIbnetdiscover(strings.NewReader(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(g.Names(), " "), "H-0101 H-0201 n3 S-0010 S-0020"; got != want || g.Hosts() != 3 || g.NumArcs() != 10 {
		t.Errorf("%s, %d hosts, %d arcs; want %s, 3 hosts, 10 arcs", got, g.Hosts(), g.NumArcs(), want)
	}
}

// Fabrics that people write for ibsim, as in its examples, have cards called Hca and no descriptions. Lines of # alone in their comments make no
// TGF of them.
func TestReadIbsim(t *testing.T) {
	const text = "# Net configuration file example\n#\n# type(Switch|Hca)\tports\t\"nodeid\"\n\nSwitch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[3]\t\"Switch2\" [3]\n" +
		"\nSwitch 8 \"Switch2\"\n[1]\t\"Hca2\"[1]\n[3]\t\"Switch1\"[3]\n\nHca\t2 \"Hca1\"\n[1]\t\"Switch1\"[1]\n\nHca\t2 \"Hca2\"\n[1]\t\"Switch2\"[1]\n"
	for _, f := range Formats() {
		if f.Is == nil || !f.Is([]byte(text)) {
			continue
		}
		g, _, err := f.ReadGraph(strings.NewReader(text), nil)
		if err != nil || g.Hosts() != 2 || g.Vertices() != 4 || g.NumArcs() != 6 || g.Name(0) != "Hca1" {
			t.Errorf("%s: %v, %v; want Hca1 and Hca2 on two switches that are joined", f.Name, g, err)
		}
		return
	}
	t.Error("the file is of no format")
}

// A speed that is not known is refused: without its rate the link would look as if ibnetdiscover had not told one.
func TestReadIbnetdiscoverRefusesSpeeds(t *testing.T) {
	const text = "Switch\t8 \"S-1\"\t# \"sw\"\n[1]\t\"H-2\"[1]\t# \"n1 HCA-1\" lid 1 4xZDR\n"
	if g, _, err := ReadIbnetdiscover(strings.NewReader(text), nil); err == nil || !strings.Contains(err.Error(), "line 2: speed 4xZDR: want") {
		t.Errorf("ReadIbnetdiscover = %v, %v, want an error of line 2", g, err)
	}
}

func FuzzReadIbnetdiscover(f *testing.F) {
	f.Add(ibFabric)
	f.Fuzz(func(t *testing.T, text string) {
		g, _, err := ReadIbnetdiscover(strings.NewReader(text), nil)
		if err == nil && g.Hosts() > g.Vertices() {
			t.Errorf("%d hosts of %d vertices", g.Hosts(), g.Vertices())
		}
	})
}

// What is written is the form of ibnetdiscover(8), as in the dump above, and is read back. A link of 11.5 GB/s, as measured, is a cable of 4 x
// 25 Gbit/s, 12.5 GB/s.
func TestWriteIbnetdiscover(t *testing.T) {
	arcs := []topology.Arc{}
	for _, l := range []struct {
		from, to int
		rate     float64
	}{{0, 3, 11.5e9}, {1, 3, 25e9}, {2, 4, nan}, {3, 4, 100e9}} {
		for _, way := range [][2]int{{l.from, l.to}, {l.to, l.from}} {
			arcs = append(arcs, topology.Arc{From: way[0], To: way[1], Latency: 1e-6, Bandwidth: l.rate, Probability: 1})
		}
	}
	g, err := topology.NewGraph(3, 2, []string{"n1", "n2", "n3", "leaf", "spine"}, arcs)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := WriteIbnetdiscover(&text, g); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Switch\t3 \"S-0002c90300100003\"\t\t# \"leaf\" base port 0 lid 4 lmc 0\n",
		"[1]\t\"H-0002c90300200000\"[1](2c90300200001) \t\t# \"n1 HCA-1\" lid 1 4xEDR\n",
		"[3]\t\"S-0002c90300100004\"[2]\t\t# \"spine\" lid 5 4xXDR\n",
		"Ca\t1 \"H-0002c90300200010\"\t\t# \"n2 HCA-1\"\n[1](2c90300200011) \t\"S-0002c90300100003\"[2]\t\t# lid 2 lmc 0 \"leaf\" lid 4 4xHDR\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if !IsIbnetdiscover([]byte(text.String())) {
		t.Error("it is not known as a dump")
	}
	back, _, err := ReadIbnetdiscover(strings.NewReader(text.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for v := range back.Vertices() {
		at[back.Name(v)] = v
	}
	rates := map[[2]string]float64{{"n1", "leaf"}: 12.5e9, {"n2", "leaf"}: 25e9, {"n3", "spine"}: nan, {"leaf", "spine"}: 100e9}
	if back.Hosts() != 3 || back.Vertices() != 5 || back.NumArcs() != 8 {
		t.Fatalf("%d hosts, %d vertices, %d arcs, want 3, 5, 8", back.Hosts(), back.Vertices(), back.NumArcs())
	}
	for ends, want := range rates {
		if i := back.ArcIndex(at[ends[0]], at[ends[1]]); i < 0 || !same(back.Arcs()[i].Bandwidth, want) {
			t.Errorf("%v: arc %d of %v, want %g B/s", ends, i, back.Arcs(), want)
		}
	}
	for _, c := range []struct {
		names []string
		rate  float64
		want  string
	}{
		{[]string{"a", "a"}, 1, "names of one word that differ"},
		{[]string{"a", "b c"}, 1, "names of one word that differ"},
		{[]string{"a", "b"}, 1e12, "InfiniBand has no such rate"},
	} {
		g, err := topology.NewGraph(2, 0, c.names, []topology.Arc{{From: 0, To: 1, Bandwidth: c.rate, Probability: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteIbnetdiscover(&text, g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %g B/s: %v, want an error with %q", c.names, c.rate, err, c.want)
		}
	}
}
