package encode

import (
	"strings"
	"testing"
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
	if !IsIbnetdiscover([]byte(ibFabric)) {
		t.Error("not known")
	}
	g, err := ReadIbnetdiscover(strings.NewReader(ibFabric), nil)
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
		if _, err := ReadIbnetdiscover(strings.NewReader(c.file), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}

func FuzzReadIbnetdiscover(f *testing.F) {
	f.Add(ibFabric)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadIbnetdiscover(strings.NewReader(text), nil)
		if err == nil && g.Hosts() > g.Vertices() {
			t.Errorf("%d hosts of %d vertices", g.Hosts(), g.Vertices())
		}
	})
}
