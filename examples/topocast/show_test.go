package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology"
)

// TestMeasuredCachesAreShown: by show from the file of a network, and by measure. The walk through working sets takes 1 ns up
// to 96 KiB and 4 ns from 128 KiB on, so the cache holds 96 KiB, and two ranks are as slow together as with twice the set.
func TestMeasuredCachesAreShown(t *testing.T) {
	t.Chdir(t.TempDir())
	const cache = "caches of 96 KiB: 1, each shared by 2 ranks (measured)\n"
	if status, _, stderr := topocast("discover", "--patterns", "0", "--sim", "star:4", "-o", "network.json"); status != 0 {
		t.Fatal(stderr)
	}
	n, err := cli.LoadNetwork(nil, "network.json")
	if err == nil {
		n, err = n.With(func(s *model.Settings) {
			s.Resources = []model.Resource{
				{Kind: topology.KindCache, Bytes: 96 << 10, Bandwidth: math.NaN(), Groups: [][]int{{0, 1}}},
				{Kind: topology.KindSocket, Bandwidth: math.NaN(), Groups: [][]int{{0, 1}}, FromSystem: true},
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create("network.json")
	if err == nil {
		err = n.Write(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, shown, stderr := topocast("show", "network.json"); status != 0 || !strings.HasSuffix(shown, cache) || strings.Contains(shown, "told") {
		t.Errorf("show: status %d: %s%s", status, shown, stderr)
	}

	s := &record.Section{Kind: servet.KindCache, Columns: []string{"part", "bytes", "access_s", "repetition", "from", "to"}, Settings: []byte(`{"bytes":262144,"hosts":[[0,1]]}`)}
	row := func(part, bytes, ns, from, to int) {
		s.Rows = append(s.Rows, float64(part), float64(bytes), 1e-9*float64(ns), 0, float64(from), float64(to))
	}
	const alone, pair, curve = 0, 1, 3
	for size := 16 << 10; size <= 256<<10; size *= 2 {
		for _, bytes := range []int{size, size * 3 / 2} {
			ns := 1
			if bytes > 96<<10 {
				ns = 4
			}
			row(curve, bytes, ns, 0, 0)
			for rank := range 2 {
				row(alone, bytes, ns, rank, rank)
				row(pair, bytes, 4, rank, 1-rank)
			}
		}
	}
	var told strings.Builder
	file := &record.File{Header: record.Header{Ranks: 2}, Sections: []*record.Section{s}}
	result, inside, err := measuredResult(file, "", false)
	if err != nil {
		t.Fatal(err)
	}
	tellMeasured(&told, io.Discard, result, inside)
	if !strings.HasSuffix(told.String(), "\n"+cache) {
		t.Errorf("measure: %s", told.String())
	}
	var printed bytes.Buffer
	if err := results.Write(&printed, result); err != nil {
		t.Fatal(err)
	}
	read, err := results.Read[results.Measured](&printed)
	want := []results.Resource{{Kind: "cache", Bytes: 96 << 10, Groups: [][]int{{0, 1}}}}
	if err != nil || len(read.Sections) != 1 || !reflect.DeepEqual(read.Sections[0].Resources, want) {
		t.Errorf("measure --json: %+v, %v, want caches %+v", read, err, want)
	}
}

// TestShowIsWhatDiscoverPrints: the same text from the file as when it was found, within 80 columns.
func TestShowIsWhatDiscoverPrints(t *testing.T) {
	t.Chdir(t.TempDir())
	status, found, stderr := topocast("discover", "--patterns", "0", "--sim", "core:2 socket:2 host:2 rack:2", "-o", "network.json")
	if status != 0 {
		t.Fatalf("discover: status %d: %s", status, stderr)
	}
	status, shown, stderr := topocast("show", "network.json")
	head, tree, _ := strings.Cut(shown, "\n")
	if status != 0 || !strings.Contains(head, "topocast discover") || len(tree) < 100 || !strings.HasPrefix(found, tree) {
		t.Errorf("show: status %d: %s%s, discover: %s", status, shown, stderr, found)
	}
	if !strings.Contains(tree, "host n0, cores 0-3") {
		t.Errorf("show names no host: %s", tree)
	}
	for line := range strings.Lines(shown) {
		if len(line) > 81 {
			t.Errorf("a line of %d columns: %q", len(line)-1, line)
		}
	}
	if status, _, _ := topocast("show", "no-such-file"); status != cli.StatusInput {
		t.Errorf("show no-such-file: status %d, want %d", status, cli.StatusInput)
	}
}

// TestShowMarksFaultsAlone: a link is marked as slow where a fault makes it so. No link of a machine without faults is
// marked. Without overheads the noise of far pairs is larger than the links inside sockets.
func TestShowMarksFaultsAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct{ sim, overhead, fault string }{
		{"core:4 socket:2 host:16", "0s", ""},
		{"core:4 socket:2 host:16", "300ns", ""},
		{"core:8 socket:2 host:4", "0s", ""},
		{"tree:4x8", "0s", ""},
		{"torus:4x4", "1us", ""},
		{"tree:4x8", "0s", "link h3-s1 latency=4x"},
	} {
		args := []string{"discover", "--patterns", "0", "--sim", tt.sim, "--overhead", tt.overhead, "-o", "network.json"}
		if tt.fault != "" {
			args = append(args, "--fault", tt.fault)
		}
		if status, _, stderr := topocast(args...); status != 0 {
			t.Fatalf("%+v: status %d: %s", tt, status, stderr)
		}
		status, out, stderr := topocast("show", "--unfold", "network.json")
		if status != 0 || strings.Contains(out, "!") != (tt.fault != "") {
			t.Errorf("%+v: status %d: %s%s", tt, status, out, stderr)
		}
	}
}

// TestShowOfAForeignGraph says of what is not known nothing: nobody has told of which family the graph is.
func TestShowOfAForeignGraph(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("fabric.dot", []byte("graph { leaf -- a; leaf -- b; }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, shown, stderr := topocast("show", "fabric.dot"); status != 0 || !strings.HasPrefix(shown, "2 ranks, 1 switch, 2 links\n") {
		t.Errorf("status %d: %s%s", status, shown, stderr)
	}
}

// By hand: what two ranks share, what nobody shares, and groups of several sizes.
func TestDescribeResource(t *testing.T) {
	for _, c := range []struct {
		r    model.Resource
		want string
	}{
		{model.Resource{Kind: topology.KindCache, Bytes: 32 << 20, Bandwidth: math.NaN(), Groups: [][]int{{0, 1}}}, "caches of 32 MiB: 1, each shared by 2 ranks"},
		{model.Resource{Kind: topology.KindNUMA, Bandwidth: 20e9}, "paths to memory of 20 GB/s: no two ranks share one"},
		{model.Resource{Kind: topology.KindSocket, Bandwidth: math.NaN(), Groups: [][]int{{0, 1}, {2, 3, 4}}}, "sockets: 2, each shared by 2 to 3 ranks"},
	} {
		if got := describeResource(&c.r); got != c.want {
			t.Errorf("describeResource(%+v) = %q, want %q", c.r, got, c.want)
		}
	}
}

// TestShowGraphWithLatencies: of a graph whose links have latencies the groups have them, too: two links of 2 us inside a switch,
// and 2 + 20 + 2 us between switches.
func TestShowGraphWithLatencies(t *testing.T) {
	file := write(t, "two.tgf", "0 a\n1 b\n2 c\n3 d\n4 s (switch)\n5 t (switch)\n#\n0 4 l: 2\n1 4 l: 2\n2 5 l: 2\n3 5 l: 2\n4 5 l: 20\n")
	status, out, stderr := topocast("show", file)
	said := strings.Join(strings.Fields(out), " ")
	if status != 0 || !strings.Contains(said, "level 1 2 2 4 us - all 1 4 24 us") {
		t.Errorf("status %d, %s%s, want 4 us and 24 us", status, out, stderr)
	}
}
